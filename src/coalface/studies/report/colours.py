"""The colours of all figures, one per meaning, each in a light and a dark version.

They follow Okabe and Ito's palette, which people with any colour vision can tell apart. A figure names an
ink; the page it stands on decides which version is shown.
"""

import re
from typing import NamedTuple


class Ink(NamedTuple):
    """A colour by its meaning: on paper, and on a dark screen."""

    name: str
    light: str
    dark: str


TEXT = Ink("text", "#1d2329", "#e6e9ec")
FAINT = Ink("faint", "#d3d8dd", "#3b434b")
PAGE = Ink("page", "#ffffff", "#14181c")
GUARANTEED = Ink("guaranteed", "#b3457f", "#e39ac0")
RULES = {
    "coal": Ink("coal", "#0072b2", "#56b4e9"),
    "passive": Ink("passive", "#5b6670", "#aab4bd"),
    "all-or-none": Ink("all-or-none", "#d55e00", "#f28a3f"),
    "no-domination": Ink("no-domination", "#009e73", "#3ccba0"),
    "random-costs": Ink("random-costs", "#857a00", "#f0e442"),
    "default": Ink("default", "#2f7d1e", "#8ad46a"),  # a line of this name, lest it be one of many of its rule
    "vw": Ink("vw", "#b87700", "#e69f00"),
    "margin": Ink("margin", "#a83f78", "#e08fba"),
    "cost-embedding": Ink("cost-embedding", "#000000", "#ffffff"),
    "cost-weighted-uncertainty": Ink("cost-weighted-uncertainty", "#7a3b12", "#d9a27a"),
}
ASKED = Ink("asked", "#0072b2", "#56b4e9")
KNOWN = Ink("known", "#009e73", "#3ccba0")
DOMINATED = Ink("dominated", "#8a939b", "#7d8790")
LEFT_OUT = Ink("left-out", "#d55e00", "#f28a3f")

EVERY_INK = (TEXT, FAINT, GUARANTEED, *RULES.values(), ASKED, KNOWN, DOMINATED, LEFT_OUT, PAGE)


def marker_of(ink: Ink) -> str:
    """A colour that stands for the ink while a figure is drawn, and occurs nowhere else.

    >>> marker_of(TEXT)
    '#fe0100'
    """
    return f"#fe01{EVERY_INK.index(ink):02x}"


def with_inks(svg: str) -> str:
    """The drawn figure with its inks as CSS variables that fall back to the light version.

    >>> with_inks(f'<path style="stroke: {marker_of(TEXT)}"/>')
    '<path style="stroke: var(--text, #1d2329)"/>'
    """

    def ink_for(found: re.Match[str]) -> str:
        ink = EVERY_INK[int(found.group(1), 16)]
        return f"var(--{ink.name}, {ink.light})"

    return re.sub("#fe01([0-9a-f]{2})", ink_for, svg)


def ink_variables(*, dark: bool) -> str:
    """The inks as CSS declarations.

    >>> ink_variables(dark=True).split()[1]
    '#e6e9ec;'
    """
    return " ".join(f"--{ink.name}: {ink.dark if dark else ink.light};" for ink in EVERY_INK)
