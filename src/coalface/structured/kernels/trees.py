"""Changes the dependency trees of a whole treebank at once.

``heads[starts[i] + word]`` is the head of a word of sentence i; words are numbered from 1, and 0 is the root.
"""

from coalface.kernels import I32, I64, called, kernel

_FOREVER = 1 << 30


@called
def _crosses(heads: I32, first: int, word: int) -> bool:
    """Whether a word under this word's arc does not descend from the arc's head."""
    head = heads[first + word]
    for between in range(min(head, word) + 1, max(head, word)):
        above = between
        while above > 0 and above != head:
            above = heads[first + above]
        if above != head:
            return True
    return False


@called
def _lift(heads: I32, first: int, n_words: int) -> None:
    """Lift the crossing arcs of a sentence, always the shortest one first."""
    while True:
        lifted, shortest = 0, _FOREVER
        for word in range(1, n_words + 1):
            length = abs(heads[first + word] - word)
            if length < shortest and _crosses(heads, first, word):
                lifted, shortest = word, length
        if lifted == 0:
            return
        heads[first + lifted] = heads[first + heads[first + lifted]]


@kernel
def lift_crossing_arcs(starts: I64, heads: I32) -> None:
    """Lift crossing arcs to their head's head until none crosses, always the shortest one first."""
    for sentence in range(starts.shape[0] - 1):
        _lift(heads, starts[sentence], starts[sentence + 1] - starts[sentence] - 1)
