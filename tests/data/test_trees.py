from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.data import LabelTree, tree_cost_matrix, tree_costs
from coalface.errors import InputError, UnknownLabelError


@st.composite
def forests(draw):
    """A child -> parent mapping over 0..n-1 in a random order."""
    n_nodes = draw(st.integers(2, 15))
    parents = {node: draw(st.sampled_from([None, *range(node)]) if node else st.none()) for node in range(n_nodes)}
    order = draw(st.permutations(list(parents)))
    labels = draw(st.lists(st.sampled_from(order), min_size=2, max_size=n_nodes, unique=True))
    return {node: parents[node] for node in order}, labels


def walked(parents, start):
    """Distances from one node by breadth-first search; "top" joins the roots."""
    neighbours = {node: [] for node in [*parents, "top"]}
    n_roots = sum(parent is None for parent in parents.values())
    for node, parent in parents.items():
        above = "top" if parent is None else parent
        if above != "top" or n_roots > 1:
            neighbours[node].append(above)
            neighbours[above].append(node)
    distance, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for other in neighbours[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


@given(forests())
def test_distances_are_those_of_a_walk_through_the_tree(drawn):
    parents, labels = drawn
    distances = LabelTree.from_parents(parents, labels).distances()
    expected = [[walked(parents, first)[second] for second in labels] for first in labels]
    np.testing.assert_array_equal(distances, expected)


@given(forests())
def test_tree_costs_are_a_metric_with_largest_value_one(drawn):
    matrix = tree_cost_matrix(*drawn)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(matrix == 0, np.eye(len(matrix), dtype=bool))
    assert (matrix[:, :, None] + matrix[None] >= matrix[:, None] - 1e-12).all()
    assert matrix.max() == 1


@given(forests(), st.randoms())
def test_permuting_the_labels_permutes_the_matrix(drawn, random):
    parents, labels = drawn
    order = list(range(len(labels)))
    random.shuffle(order)
    shuffled = tree_cost_matrix(parents, [labels[place] for place in order])
    np.testing.assert_array_equal(shuffled, tree_cost_matrix(parents, labels)[np.ix_(order, order)])


@given(forests(), st.data())
def test_the_nearest_of_several_true_labels_counts(drawn, data):
    parents, labels = drawn
    truths = data.draw(st.lists(st.sets(st.sampled_from(labels), min_size=1), min_size=1))
    matrix = tree_cost_matrix(parents, labels)
    expected = [matrix[[labels.index(label) for label in truth]].min(axis=0) for truth in truths]
    np.testing.assert_array_equal(tree_costs(parents, truths, labels), expected)
    np.testing.assert_array_equal(tree_costs(LabelTree.from_parents(parents), truths, labels), expected)


def test_by_default_the_labels_are_the_leaves_in_the_order_of_the_mapping():
    assert LabelTree.from_parents({"b": "top", "c": "b", "a": "top"}).labels == ("c", "a")


def test_collapsing_keeps_nodes_that_are_labels_or_have_two_children():
    chain = {"a": "x", "x": "y", "y": "top", "b": "top"}
    assert LabelTree.from_parents(chain, ["a", "b"], collapse=True).distances()[0, 1] == 2
    assert LabelTree.from_parents(chain, ["a", "b", "x"], collapse=True).distances()[0, 1] == 3


def test_a_single_label_costs_nothing():
    np.testing.assert_array_equal(tree_cost_matrix({"a": "top"}, ["a"]), [[0.0]])


def test_a_deep_chain_does_not_overflow_the_stack():
    parents = {depth: depth - 1 for depth in range(1, 3000)}
    assert LabelTree.from_parents(parents, [0, 2999]).distances()[0, 1] == 2999


@pytest.mark.parametrize(
    ("parents", "labels", "words"),
    [
        ({"a": "a"}, None, "must not have cycles, got 'a' -> 'a'"),
        ({"a": "b", "b": "c", "c": "a"}, None, "'a' -> 'b' -> 'c' -> 'a'"),
        ({}, None, "at least one node"),
        ({"a": "b"}, ["a", "a"], "distinct, got 'a' twice"),
        ({"a": "b"}, [], "at least one label"),
    ],
)
def test_a_broken_tree_is_named(parents, labels, words):
    with pytest.raises(InputError, match=words):
        tree_cost_matrix(parents, labels)


def test_unknown_labels_are_listed_with_the_known_ones():
    with pytest.raises(UnknownLabelError, match=r"Unknown label 'fish'. The known labels are 'cat', 'animal'"):
        tree_cost_matrix({"cat": "animal"}, ["fish"])
    with pytest.raises(UnknownLabelError, match=r"Unknown label 'animal'. The known labels are 'cat'"):
        tree_costs({"cat": "animal"}, ["animal"], ["cat"])
    with pytest.raises(InputError, match="row 1 must have at least one true label"):
        tree_costs({"cat": "animal"}, ["cat", []])
