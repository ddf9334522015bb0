"""Label trees, and costs that grow with the distance between two labels in the tree.

Predicting a sibling is a small error; predicting a label of another branch is a large one. The cost is the number of
edges between truth and prediction, divided by the largest such number between any two labels.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError, UnknownLabelError

_FAR = np.int32(2**30)  # longer than any path, without overflow when 1 is added


@dataclass(frozen=True, eq=False)
class LabelTree:
    """The nodes of a tree, each after its parent, and which of them are labels.

    ``parents[i]`` is the position of node i's parent, -1 for the root. Several roots are
    joined by an extra node ``None``.

    >>> tree = LabelTree.from_parents({"cat": "animal", "dog": "animal", "car": "vehicle"})
    >>> tree.labels
    ('cat', 'dog', 'car')
    >>> tree.distances()
    array([[0, 2, 4],
           [2, 0, 4],
           [4, 4, 0]], dtype=int32)
    """

    nodes: tuple[Hashable, ...]
    parents: NDArray[np.int64]
    labels: tuple[Hashable, ...]

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[Any, Hashable],
        labels: Iterable[Hashable] | None = None,
        *,
        collapse: bool = False,
    ) -> "LabelTree":
        """The tree of a child -> parent mapping; a root has no entry, or the parent ``None``.

        ``labels`` may be leaves and inner nodes, by default all leaves. ``collapse=True`` leaves out inner nodes that
        have one child and are not labels, so that a chain of such nodes counts as one edge.

        >>> chain = {"cat": "feline", "feline": "animal", "dog": "animal"}
        >>> LabelTree.from_parents(chain).distances()[0].tolist()
        [0, 3]
        >>> LabelTree.from_parents(chain, collapse=True).distances()[0].tolist()
        [0, 2]
        """
        above = _checked_parents(parents)
        inner = set(above.values())
        chosen = tuple(node for node in above if node not in inner) if labels is None else tuple(labels)
        _check_labels(chosen, above)
        if collapse:
            above = _collapsed(above, set(chosen))
        return cls(*_ordered(above), chosen)

    def distances(self) -> NDArray[np.int32]:
        """The number of edges between every two labels, (K, K)."""
        position = {node: place for place, node in enumerate(self.nodes)}
        rows = np.array([position[label] for label in self.labels], dtype=np.int64)
        edges = np.full((len(self.nodes), len(rows)), _FAR, dtype=np.int32)
        edges[rows, np.arange(len(rows))] = 0
        for node in range(len(self.nodes) - 1, 0, -1):  # upwards: labels below each node
            above = self.parents[node]
            np.minimum(edges[above], edges[node] + 1, out=edges[above])
        for node in range(1, len(self.nodes)):  # downwards: all other labels, through the parent
            np.minimum(edges[node], edges[self.parents[node]] + 1, out=edges[node])
        return edges[rows]

    def cost_matrix(self) -> NDArray[np.float64]:
        """The distances divided by the largest one, (K, K): row = truth, column = prediction."""
        distances = self.distances()
        return np.divide(distances, max(int(distances.max()), 1), dtype=np.float64)


def tree_cost_matrix(
    parents: Mapping[Any, Hashable] | LabelTree, labels: Iterable[Hashable] | None = None
) -> NDArray[np.float64]:
    """Tree distances between labels as costs in [0, 1], (K, K): row = truth, column = prediction.

    Rows and columns follow ``labels``; by default they are the leaves, in the order of the mapping.

    >>> tree_cost_matrix({"cat": "animal", "dog": "animal", "car": "vehicle"}, ["cat", "dog", "car"])
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 1. ],
           [1. , 1. , 0. ]])
    """
    return _as_tree(parents, labels).cost_matrix()


def tree_costs(
    parents: Mapping[Any, Hashable] | LabelTree,
    true_labels: Sequence[object],
    labels: Iterable[Hashable] | None = None,
) -> NDArray[np.float64]:
    """The cost of predicting each label for each example, (n, K): the distance to its nearest true label.

    Each entry of ``true_labels`` is one label, or a list, tuple or set of labels; all must be among ``labels``.

    >>> parents = {"cat": "animal", "dog": "animal", "car": "vehicle"}
    >>> tree_costs(parents, ["cat", ["dog", "car"]], ["cat", "dog", "car"])
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0. ]])
    """
    tree = _as_tree(parents, labels)
    matrix = tree.cost_matrix()
    position = {label: place for place, label in enumerate(tree.labels)}
    costs = np.empty((len(true_labels), len(tree.labels)))
    for row, truth in enumerate(true_labels):
        several = list(truth) if isinstance(truth, list | tuple | set | frozenset) else [truth]
        if not several:
            raise InputError(
                f"The example in row {row} must have at least one true label, got none. "
                "Leave the example out, or give its label."
            )
        for label in several:
            if label not in position:
                raise UnknownLabelError(label, tree.labels)
        costs[row] = matrix[[position[label] for label in several]].min(axis=0)
    return costs


def _as_tree(parents: Mapping[Any, Hashable] | LabelTree, labels: Iterable[Hashable] | None) -> LabelTree:
    if not isinstance(parents, LabelTree):
        return LabelTree.from_parents(parents, labels)
    if labels is None:
        return parents
    chosen = tuple(labels)
    _check_labels(chosen, dict.fromkeys(node for node in parents.nodes if node is not None))
    return LabelTree(parents.nodes, parents.parents, chosen)


def _checked_parents(parents: Mapping[Any, Hashable]) -> dict[Hashable, Hashable]:
    """Every node with its parent, ``None`` for roots; a cycle is an InputError."""
    above = dict(parents)
    for parent in parents.values():
        if parent is not None:
            above.setdefault(parent, None)
    if not above:
        raise InputError("The label tree must have at least one node, got none. Pass {child: parent, ...}.")
    safe: set[Hashable] = {None}
    for node in above:
        path: dict[Hashable, None] = {}
        while node not in safe:
            if node in path:
                cycle = [*list(path)[list(path).index(node) :], node]
                shown = " -> ".join(repr(name) for name in cycle[:10])
                raise InputError(f"The label tree must not have cycles, got {shown}. Remove one of these parents.")
            path[node] = None
            node = above[node]
        safe.update(path)
    return above


def _check_labels(labels: tuple[Hashable, ...], nodes: Mapping[Hashable, object]) -> None:
    seen = set()
    for label in labels:
        if label not in nodes or label is None:
            raise UnknownLabelError(label, nodes)
        if label in seen:
            raise InputError(f"The labels must be distinct, got {label!r} twice. List it once.")
        seen.add(label)
    if not labels:
        raise InputError("The label tree needs at least one label, got none. Pass labels=[...].")


def _collapsed(above: dict[Hashable, Hashable], labels: set[Hashable]) -> dict[Hashable, Hashable]:
    """The mapping without inner nodes that have one child and are not labels."""
    n_children: dict[Hashable, int] = dict.fromkeys(above, 0)
    for parent in above.values():
        if parent is not None:
            n_children[parent] += 1
    dropped = {node for node in above if n_children[node] == 1 and node not in labels}
    kept: dict[Hashable, Hashable] = {}
    for node, parent in above.items():
        if node in dropped:
            continue
        while parent in dropped:
            parent = above[parent]
        kept[node] = parent
    return kept


def _ordered(above: dict[Hashable, Hashable]) -> tuple[tuple[Hashable, ...], NDArray[np.int64]]:
    """The nodes, each after its parent, and the positions of their parents; several roots get a common parent."""
    children: dict[Hashable, list[Hashable]] = {}
    for node, parent in above.items():
        children.setdefault(parent, []).append(node)
    roots = children[None]
    order: list[Hashable] = [None] if len(roots) > 1 else list(roots)
    for node in order:  # the list grows during the loop
        order.extend(children.get(node, ()))
    position = {node: place for place, node in enumerate(order)}
    parents = [position[above[node]] for node in order[1:]]
    return tuple(order), np.array([-1, *parents], dtype=np.int64)
