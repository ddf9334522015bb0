"""The style of all figures: colours, axis ticks, and SVG text for a page or for a file of its own.

Figures are drawn with placeholders that become CSS variables, so that a page chooses light or dark colours.
"""

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.extras import needed_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
_FONT_SIZE = 10  # points
_LEGEND_PER_ROW = 6
_LETTER, _LEGEND_GAPS = 0.6, 3.0  # widths of a letter and of the gap between two entries, in font sizes


@contextmanager
def styled_figure(size: tuple[float, float], salt: str) -> "Iterator[Figure]":
    """An empty figure in the common style; matplotlib's global state does not change."""
    with needed_for("A figure"):
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    text, faint = placeholder_for(TEXT), placeholder_for(FAINT)
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
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a browser has other fonts
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
    return _with_css_variables(f'<svg {names} {box.group(0)} role="img" aria-label="{label}">{body}').strip()


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


# From coarse to fine: an axis gets the first series with enough numbers on it.
_SERIES = (
    (1.0,),
    (1.0, 3.0),
    (1.0, 2.0, 5.0),
    (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    (1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    tuple(np.round(np.arange(1.0, 10.0, 0.1), 1).tolist()),
    tuple(np.round(np.arange(1.0, 10.0, 0.02), 2).tolist()),
)


def short(value: float) -> str:
    """A number in the short form of an axis.

    >>> [short(value) for value in (0.25, 640, 1280, 16320, 2088960)]
    ['0.25', '640', '1,280', '16.3k', '2.09M']
    """
    if value < 10_000:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= 0.9995 * size:
            return f"{value / size:.3g}{unit}"
    raise AssertionError(value)


def round_numbers(low: float, high: float, enough: int = 4) -> list[float]:
    """Round numbers on a log axis from ``low`` to ``high``: the coarsest series of which ``enough - 1`` fit.

    >>> round_numbers(0.06, 0.9)
    [0.1, 0.2, 0.5]
    >>> round_numbers(0.113, 0.147)
    [0.12, 0.13, 0.14]
    """
    exponents = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    inside: list[float] = []
    for series in _SERIES:
        numbers = np.round(np.multiply.outer(10.0**exponents, series).ravel(), 12)
        inside = numbers[(numbers >= low) & (numbers <= high)].tolist()
        if len(inside) >= enough - 1:
            break
    return inside


def powers_of_two(low: float, high: float) -> list[float]:
    """The powers of two from just below ``low`` to just above ``high``.

    >>> powers_of_two(0.7, 5)
    [0.5, 1.0, 2.0, 4.0, 8.0]
    """
    exponents = np.arange(np.floor(np.log2(low)), np.ceil(np.log2(high)) + 1)
    return [float(value) for value in 2.0**exponents]


def thinned(marks: NDArray[np.float64] | list[float], most: int) -> list[float]:
    """Every mark, every second or every third, ..., so that at most ``most`` remain; the first one stays.

    >>> thinned([1, 2, 4, 8, 16], 3)
    [1.0, 4.0, 16.0]
    """
    step = -(-len(marks) // most)
    return [float(mark) for mark in marks[::step]]


class Colour(NamedTuple):
    """A colour named by its meaning: on paper, and on a dark screen."""

    name: str
    light: str
    dark: str


TEXT = Colour("text", "#1d2329", "#e6e9ec")
FAINT = Colour("faint", "#d3d8dd", "#3b434b")
PAGE = Colour("page", "#ffffff", "#14181c")
GUARANTEED = Colour("guaranteed", "#b3457f", "#e39ac0")
RULES = {
    "coal": Colour("coal", "#0072b2", "#56b4e9"),
    "passive": Colour("passive", "#5b6670", "#aab4bd"),
    "all-or-none": Colour("all-or-none", "#d55e00", "#f28a3f"),
    "no-domination": Colour("no-domination", "#009e73", "#3ccba0"),
    "random-costs": Colour("random-costs", "#857a00", "#f0e442"),
    "default": Colour("default", "#2f7d1e", "#8ad46a"),  # the line of this name, whatever its rule
    "vw": Colour("vw", "#b87700", "#e69f00"),
    "margin": Colour("margin", "#a83f78", "#e08fba"),
    "cost-embedding": Colour("cost-embedding", "#000000", "#ffffff"),
    "cost-weighted-uncertainty": Colour("cost-weighted-uncertainty", "#7a3b12", "#d9a27a"),
    "random-forest": Colour("random-forest", "#c1272d", "#ff8a80"),
    "gradient-boosting": Colour("gradient-boosting", "#6a4fb3", "#b79cf0"),
    "knn": Colour("knn", "#946c00", "#f0c75e"),
    "asf": Colour("asf", "#77790c", "#cdd05a"),
    "regcb-epochs": Colour("regcb-epochs", "#00707a", "#5fd3dd"),
    "online-regression": Colour("online-regression", "#8c1d4f", "#ff9ec4"),
    "badge": Colour("badge", "#3f6b00", "#b6e35a"),
    "iwal": Colour("iwal", "#4a4a9c", "#a3a3ff"),
}
ASKED = Colour("asked", "#0072b2", "#56b4e9")
KNOWN = Colour("known", "#009e73", "#3ccba0")
DOMINATED = Colour("dominated", "#8a939b", "#7d8790")
LEFT_OUT = Colour("left-out", "#d55e00", "#f28a3f")

EVERY_COLOUR = (TEXT, FAINT, GUARANTEED, *RULES.values(), ASKED, KNOWN, DOMINATED, LEFT_OUT, PAGE)


def placeholder_for(colour: Colour) -> str:
    """A placeholder for the colour while a figure is drawn; it occurs nowhere else.

    >>> placeholder_for(TEXT)
    '#fe0100'
    """
    return f"#fe01{EVERY_COLOUR.index(colour):02x}"


def _with_css_variables(svg: str) -> str:
    """The drawn figure with CSS variables instead of placeholders; their fallback is the light version.

    >>> _with_css_variables(f'<path style="stroke: {placeholder_for(TEXT)}"/>')
    '<path style="stroke: var(--text, #1d2329)"/>'
    """

    def variable_for(found: re.Match[str]) -> str:
        colour = EVERY_COLOUR[int(found.group(1), 16)]
        return f"var(--{colour.name}, {colour.light})"

    return re.sub("#fe01([0-9a-f]{2})", variable_for, svg)


def css_variables(*, dark: bool) -> str:
    """The colours as CSS declarations.

    >>> css_variables(dark=True).split()[1]
    '#e6e9ec;'
    """
    return " ".join(f"--{colour.name}: {colour.dark if dark else colour.light};" for colour in EVERY_COLOUR)
