"""The style of all figures, and their SVG text for a page or for a file of its own.

Figures are drawn with placeholders that become CSS variables, see ``colours``.
"""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coalface.studies.report import colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
_FONT_SIZE = 10  # points
_LEGEND_PER_ROW = 6
_LETTER, _LEGEND_GAPS = 0.6, 3.0  # widths of a letter and of the gap between two entries, in font sizes


@contextmanager
def styled_figure(size: tuple[float, float], salt: str) -> "Iterator[Figure]":
    """An empty figure in the common style; matplotlib's global state does not change."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    text, faint = colours.placeholder_for(colours.TEXT), colours.placeholder_for(colours.FAINT)
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.size": _FONT_SIZE,
        "text.color": text,
        "axes.labelcolor": text,
        "xtick.color": faint,
        "ytick.color": faint,
        "xtick.labelcolor": text,
        "ytick.labelcolor": text,
        "axes.edgecolor": faint,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": faint,
        "grid.linewidth": 0.6,
        "lines.linewidth": 2.0,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.h_pad": 0.09,
        "figure.constrained_layout.w_pad": 0.1,
    }
    with rc_context(style):
        yield Figure(figsize=size)


def legend_above(figure: "Figure", named: Mapping[str, Any], handlelength: float) -> None:
    """One legend above the whole figure, in as few rows of equal length as fit."""
    entry = (handlelength + _LEGEND_GAPS + _LETTER * max(map(len, named), default=0)) * _FONT_SIZE / 72  # inches
    n_rows = -(-len(named) // max(1, min(_LEGEND_PER_ROW, int(figure.get_figwidth() / entry))))
    figure.legend(
        named.values(),
        named.keys(),
        loc="outside upper center",
        ncols=-(-len(named) // n_rows),
        handlelength=handlelength,
    )


def svg_of(figure: "Figure", description: str) -> str:
    """The figure as SVG text for a page, which decides its colours and its font."""
    buffer = io.StringIO()
    no_metadata: Any = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(buffer, format="svg", transparent=True, metadata=no_metadata)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    head, body = text.split(">", 1)
    box = re.search(r'viewBox="[^"]+"', head)
    assert box is not None
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(
        r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL
    )  # it would apply to the whole page
    body = re.sub(r'<g id="[^"]*"', "<g", body)  # several figures share a page, ids must not
    body = re.sub(r"font-family: [^;\"]*", "font-family: inherit", body)
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return colours.with_css_variables(f'<svg {names} {box.group(0)} role="img" aria-label="{label}">{body}').strip()


def standalone(svg: str) -> str:
    r"""The same figure as a file of its own, with light colours on white, for every viewer.

    >>> svg = '<svg viewBox="0 0 72 36" role="img"><path style="stroke: var(--text, #1d2329)"/></svg>'
    >>> _, head, path, _ = standalone(svg).replace("><", ">\n<").split("\n")
    >>> head.startswith('<svg width="72pt" height="36pt" style="background: #ffffff"'), path
    (True, '<path style="stroke: #1d2329"/>')
    """
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert box is not None
    size = f'width="{box.group(1)}pt" height="{box.group(2)}pt" style="background: #ffffff"'
    plain = re.sub(r"var\(--[a-z-]+, (#[0-9a-f]{6})\)", r"\1", svg)
    plain = plain.replace("font-family: inherit", "font-family: sans-serif").replace("<svg ", f"<svg {size} ", 1)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + plain
