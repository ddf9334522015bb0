"""Draw docs/figures/search.svg, learning to search in one picture: ``make figure``."""

from pathlib import Path
from typing import Any, NamedTuple

from coalface.report import figure_style
from coalface.report.figure_style import standalone, styled_figure, svg_of

WORDS = ("Ada", "Lovelace", "lived", "in", "Turin")
ROLLED_IN = ("B-PER", "O")
TRUTH = ("B-PER", "I-PER", "O", "O", "B-LOC")
AT = len(ROLLED_IN)  # the word to be decided
TEXT, FAINT, ASKED, LEFT_OUT = map(
    figure_style.placeholder_for, (figure_style.TEXT, figure_style.FAINT, figure_style.ASKED, figure_style.DOMINATED)
)


class Branch(NamedTuple):
    """An action at the word to be decided, and whether the policy asks for its cost."""

    tag: str
    height: float
    asked: bool


BRANCHES = (
    Branch("O", 1.5, True),
    Branch("B-LOC", 0.5, True),
    Branch("B-PER", -0.5, False),
    Branch("I-PER", -1.3, False),
)


def wrong(tags: tuple[str, ...]) -> int:
    """The Hamming loss of a complete output."""
    return sum(mine != theirs for mine, theirs in zip(tags, TRUTH, strict=True))


def draw_roll_in(axes: Any) -> None:
    """The words, and the tags that the policy has chosen so far."""
    for place, word in enumerate(WORDS):
        axes.text(place, -2.15, word, ha="center", va="center", fontweight="bold" if place == AT else "normal")
    axes.plot(range(-1, AT), [0.0] * (AT + 1), color=TEXT, marker="o", markersize=9, zorder=2)
    axes.text(-1, 0.3, "start", ha="center")
    for place, tag in enumerate(ROLLED_IN):
        axes.text(place + 0.05, 0.3, tag if tag == TRUTH[place] else f"{tag}, wrong", ha="right")
    axes.text(0, 1.05, "roll-in\nby the learned policy", ha="center", va="bottom")


def draw_branch(axes: Any, branch: Branch) -> None:
    """An action and its roll-out, if it has one."""
    colour = ASKED if branch.asked else LEFT_OUT
    axes.plot(
        [AT - 1, AT], [0.0, branch.height], color=colour, linestyle="solid" if branch.asked else "dotted", zorder=1
    )
    axes.plot(
        [AT], [branch.height], color=colour, marker="o", markersize=9, fillstyle="full" if branch.asked else "none"
    )
    axes.text(AT, branch.height + 0.26, branch.tag, ha="center", color=colour)
    if not branch.asked:
        axes.text(AT + 0.25, branch.height, "cannot be best: not rolled out", va="center", color=colour)
        return
    rest = TRUTH[AT + 1 :]
    places = [AT, *range(AT + 1, len(WORDS))]
    axes.plot(places, [branch.height] * len(places), color=colour, linestyle="dashed", marker="o", markersize=6)
    for place, tag in zip(places[1:], rest, strict=True):
        axes.text(place, branch.height + 0.26, tag, ha="center", color=colour)
    loss = wrong((*ROLLED_IN, branch.tag, *rest))
    best = wrong((*ROLLED_IN, *TRUTH[AT:]))
    axes.text(len(WORDS) - 0.65, branch.height, f"loss {loss}, so cost {loss} - {best} = {loss - best}", va="center")


def main() -> None:
    """Draw the figure."""
    with styled_figure((11.0, 4.4), salt="search") as figure:
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set_xlim(-1.4, 6.6)
        axes.set_ylim(-2.5, 2.5)
        draw_roll_in(axes)
        for branch in BRANCHES:
            draw_branch(axes, branch)
        axes.text(AT + 1.5, 2.25, "roll-outs by the reference", ha="center", color=ASKED)
        svg = standalone(svg_of(figure, "Roll-in by the learned policy, roll-outs by the reference where asked for"))
    Path(__file__).with_suffix(".svg").write_text(svg + "\n")


if __name__ == "__main__":
    main()
