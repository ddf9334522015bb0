"""Lists where the result of a command differs from VW's, one sentence per difference."""

from collections.abc import Iterator, Sequence

from coalface.studies.vw_command.checks import CS_ACTIVE, CSOAA, ECT, OAA

_SUMMED = "A feature or n-gram that occurs twice in a line has the sum of its values; VW learns it twice."
_STALE = (
    "VW 9.8 to 9.11 computes the ranges of all labels with the statistics of one of them. Here each label has its own, "
    "so a few questions can differ."
)
_CLIPPED = "VW clips predictions to the costs seen so far, here to 0 and the largest cost of the file, or 1."
_REGRESSION = "{} becomes a regression of 0/1 costs per label, as with --csoaa: its predictions are similar, not equal."
_UNORDERED = "VW gives x y and y x different weights in products within a namespace. Here both are the same feature."
_WILDCARD = "VW leaves the products of ':' out of the ranges of --cs_active. Here they count, as those of -q ab do."
_BISECTED = "VW finds the ends of a range by a bisection that stops early, so a close decision can differ."
_CONTINUED = "VW forgets part of its state in a saved model and starts again at round 1; here training continues."


def differences(reduction: str | None, pairs: Sequence[str], *, test_only: bool) -> Iterator[str]:
    """What differs for a command with these options.

    >>> list(differences(None, (), test_only=True))
    ['A feature or n-gram that occurs twice in a line has the sum of its values; VW learns it twice.']
    """
    if reduction == CS_ACTIVE:
        yield _STALE
        yield _BISECTED
        if any(":" in pair for pair in pairs):
            yield _WILDCARD
    elif reduction in (OAA, ECT):
        yield _REGRESSION.format(f"--{reduction}")
    elif reduction == CSOAA:
        yield _CLIPPED
    elif not test_only:
        yield _CONTINUED
    if any(pair[0] == pair[1] or ":" in pair for pair in pairs):
        yield _UNORDERED
    yield _SUMMED
