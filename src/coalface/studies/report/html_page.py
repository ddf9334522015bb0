"""An HTML page that needs nothing else: no scripts, no fonts, no network; for screen, dark screen and paper.

Text is escaped here, figures are SVG text from ``figures``.
"""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version
from typing import NamedTuple

from coalface.files.atomic import atomic_write
from coalface.studies.report.colours import ink_variables

_STYLE = """
:root { color-scheme: light dark; --card: #f5f7f9; --quiet: #5b6670; LIGHT }
@media (prefers-color-scheme: dark) { :root { --card: #1d2329; --quiet: #a3adb6; DARK } }
@media print { :root { --card: #ffffff; --quiet: #444c54; LIGHT } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, "Segoe UI", Roboto,
  "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.3rem; margin: 2.8rem 0 .6rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .4rem; }
p { max-width: 46rem; margin: .5rem 0; }
p.lead { font-size: 1.12rem; color: var(--quiet); }
ul.facts { list-style: none; display: flex; flex-wrap: wrap; gap: .9rem; padding: 0; margin: 1.6rem 0; }
ul.facts li { flex: 1 1 13rem; background: var(--card); border-left: 4px solid var(--coal); border-radius: 4px;
  padding: .8rem 1rem; }
ul.facts strong { display: block; font-size: 1.75rem; line-height: 1.2; }
ul.facts span { color: var(--quiet); font-size: .92rem; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .94rem; }
caption { text-align: left; color: var(--quiet); font-size: .9rem; padding: .2rem 0 .5rem; caption-side: bottom; }
th, td { text-align: right; padding: .42rem .7rem; border-bottom: 1px solid var(--faint); white-space: nowrap; }
th { font-weight: 600; color: var(--quiet); vertical-align: bottom; white-space: normal; }
th:first-child, td:first-child { text-align: left; }
tr.marked td { background: var(--card); font-weight: 600; }
table.pairs { width: auto; }
table.pairs td { text-align: left; white-space: normal; }
table.pairs td:first-child { color: var(--quiet); }
table.dense { font-size: .88rem; }
table.dense th, table.dense td { padding: .38rem .5rem; }
tr.group th { text-align: left; color: var(--text); padding-top: 1.1rem; border-bottom-color: var(--quiet); }
tr { break-inside: avoid; }
thead { break-inside: avoid; }
td small { display: block; color: var(--quiet); font-size: .82em; line-height: 1.3; }
td.best { background: var(--card); box-shadow: inset 0 -2px 0 var(--coal); font-weight: 600; }
div.notice { border: 1px solid var(--left-out); border-left-width: 4px; border-radius: 4px; padding: .6rem 1rem;
  margin: 1.2rem 0; break-inside: avoid; }
div.notice p { margin: .2rem 0; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--quiet); }
ul.plain { max-width: 52rem; padding-left: 1.2rem; } ul.plain li { margin: .4rem 0; }
figure { margin: 1.2rem 0; break-inside: avoid; }
figure svg { width: 100%; height: auto; display: block; }
div.drawing { overflow-x: auto; }
@media screen and (max-width: 48rem) { main { padding: 1.5rem 1rem 3rem; }
  div.drawing svg { min-width: var(--drawn); } }
div.beside { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: center; }
div.beside > * { flex: 1 1 24rem; min-width: 0; }
figcaption { color: var(--quiet); font-size: .92rem; max-width: 46rem; margin-top: .5rem; }
section { break-inside: auto; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--faint); color: var(--quiet);
  font-size: .88rem; }
@media print { main { max-width: none; padding: 0; } body { font-size: 10.5pt; } h2, h3 { break-after: avoid; }
  div.wide, div.drawing { overflow: visible; } div.wide table { font-size: 7.5pt; } th, td { padding: .25rem .35rem; }
  div.wide table.dense { font-size: 6.8pt; } table.dense th, table.dense td { padding: .2rem; }
  table.dense td:first-child { white-space: normal; } }
"""


class Cell(NamedTuple):
    """The text of a cell in a table, with a quiet note below (such as an interval), or standing out."""

    text: str
    note: str = ""
    best: bool = False


Row = Sequence[str | Cell]


def table(headings: Sequence[str], rows: Sequence[Row], caption: str = "", marked: int | None = None) -> str:
    """A table as HTML; the row number ``marked`` stands out.

    >>> "<td>a &amp; b</td>" in table(["name"], [["a & b"]])
    True
    """
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in headings)
    body = "".join(
        f"<tr{' class=marked' if place == marked else ''}>" + "".join(map(_cell, row)) + "</tr>"
        for place, row in enumerate(rows)
    )
    below = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{below}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def grouped_table(headings: Sequence[str], groups: Mapping[str, Sequence[Row]], caption: str = "") -> str:
    """A table as HTML whose rows stand in groups, each below its name; a lone group needs no name.

    >>> "best>5</td>" in grouped_table(["n"], {"a": [[Cell("5", best=True)]], "b": []})
    True
    """
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in headings)
    bodies = []
    for name, rows in groups.items():
        title = f'<tr class="group"><th scope="rowgroup" colspan="{len(headings)}">{escape(name)}</th></tr>\n'
        lines = ("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
        bodies.append("<tbody>" + (title if len(groups) > 1 else "") + "\n".join(lines) + "</tbody>")
    below = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "\n".join(bodies)
    return f'<div class="wide"><table class="dense">{below}<thead><tr>{head}</tr></thead>\n{body}</table></div>'


def _cell(content: str | Cell) -> str:
    text, note, best = content if isinstance(content, Cell) else Cell(content)
    below = f"<small>{escape(note)}</small>" if note else ""
    return f"<td{' class=best' if best else ''}>{escape(text)}{below}</td>"


def bullets(sentences: Sequence[str]) -> str:
    """Sentences as a list."""
    return '<ul class="plain">' + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def notice(*parts: str) -> str:
    """A box that must not be overlooked, of parts that are HTML already."""
    return f'<div class="notice" role="note">{"".join(parts)}</div>'


def folded(summary: str, part: str) -> str:
    """A part that opens with a click, below a line that says what it is."""
    return f"<details><summary>{escape(summary)}</summary>{part}</details>"


def pairs(values: Mapping[str, str]) -> str:
    """Names and values as a small table.

    >>> pairs({"rule": "coal"})
    '<table class="pairs"><tbody><tr><td>rule</td><td>coal</td></tr></tbody></table>'
    """
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in values.items())
    return f'<table class="pairs"><tbody>{rows}</tbody></table>'


def facts(values: Mapping[str, str]) -> str:
    """The few numbers to remember: large, with what they mean below."""
    items = "".join(
        f"<li><strong>{escape(number)}</strong><span>{escape(what)}</span></li>" for what, number in values.items()
    )
    return f'<ul class="facts">{items}</ul>'


def figure(svg: str, caption: str) -> str:
    """A figure with its caption; a narrow screen shows it as wide as it was drawn, to be scrolled.

    >>> figure('<svg viewBox="0 0 604.8 309.6"></svg>', "How it fell.").split("<svg")[0]
    '<figure><div class="drawing" style="--drawn: 605px">'
    """
    box = re.search(r'viewBox="0 0 ([\d.]+) ', svg)
    drawn = f' style="--drawn: {float(box.group(1)):.0f}px"' if box else ""  # a point as a pixel: text of 10 pixels
    return f'<figure><div class="drawing"{drawn}>{svg}</div><figcaption>{escape(caption)}</figcaption></figure>'


def beside(*parts: str) -> str:
    """Parts next to each other, or below each other where there is no room."""
    return f'<div class="beside">{"".join(parts)}</div>'


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def section(title: str, *parts: str) -> str:
    """A section of parts that are HTML already."""
    return f"<section><h2>{escape(title)}</h2>\n" + "\n".join(parts) + "</section>"


def page(title: str, lead: str, *parts: str, footer: str = "") -> str:
    """The whole page; its last line is the ``footer``, or says what it was made with.

    >>> page("A run", "What it cost.").startswith("<!DOCTYPE html>")
    True
    """
    style = _STYLE.replace("LIGHT", ink_variables(dark=False)).replace("DARK", ink_variables(dark=True))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style></head>\n"
        f'<body><main><h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>\n'
        + "\n".join(parts)
        + f"\n<footer>{escape(footer or _made_with())}</footer>\n</main></body></html>\n"
    )


def write_page(path: str | os.PathLike[str], html: str) -> None:
    """Write the page; it appears whole or not at all."""
    with atomic_write(path) as file:
        file.write(html.encode())


def versions() -> dict[str, str]:
    """What the numbers were computed with.

    >>> sorted(versions())[:3]
    ['Python', 'coalface', 'matplotlib']
    """
    parts = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")
    from coalface.version import __version__

    return {"coalface": __version__, "Python": platform.python_version(), **{part: version(part) for part in parts}}


def _made_with() -> str:
    return "Made with " + ", ".join(f"{name} {number}" for name, number in versions().items()) + "."
