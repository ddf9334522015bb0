"""The colours of all figures, one per meaning, each in a light and a dark version.

They follow Okabe and Ito's palette, which people with any colour vision can tell apart. A figure names a colour; the
page decides which version is shown.
"""

import re
from typing import NamedTuple


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


def with_css_variables(svg: str) -> str:
    """The drawn figure with CSS variables instead of placeholders; their fallback is the light version.

    >>> with_css_variables(f'<path style="stroke: {placeholder_for(TEXT)}"/>')
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
