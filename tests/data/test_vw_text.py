import gzip
from contextlib import suppress
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from vowpalwabbit import LabelType, Workspace

from coalface.data import CostDataset
from coalface.data.formats.vw_text import read_vw_text
from coalface.data.formats.vw_writer import write_vw_text
from coalface.errors import FileFormatError, InputError
from tests.data.strategies import assert_same, datasets, feature_words, label_words


@pytest.fixture
def read(read_text):
    return partial(read_text, read_vw_text, "some.vw")


@settings(deadline=None)
@given(datasets(labels=label_words, features=feature_words, candidates=True))
def test_named_datasets_survive_writing_and_reading(dataset):
    with TemporaryDirectory() as folder:
        write_vw_text(dataset, f"{folder}/a.vw.gz")
        names = dataset.feature_names
        how = {"features": "named", "feature_names": names, "classes": dataset.classes, "targets": "costs"}
        back = read_vw_text(f"{folder}/a.vw.gz", **how)
    may = np.ones(back.cost.shape, bool) if back.candidates is None else back.candidates
    np.testing.assert_array_equal(may, dataset.candidates)
    assert_same(*(CostDataset(kept.X, kept.cost, kept.classes, feature_names=names) for kept in (back, dataset)))


@settings(deadline=None)
@given(datasets())
@example(CostDataset([[np.finfo(np.float32).max, 1e-45]], [[-1e-45, 3.4028235e38]]))
def test_numbered_datasets_survive_writing_and_reading(dataset):
    with TemporaryDirectory() as folder:
        write_vw_text(dataset, f"{folder}/a.vw")
        back = read_vw_text(f"{folder}/a.vw", n_features=dataset.X.shape[1], classes=dataset.classes)
    assert_same(back, dataset)


VW_LINES = [
    "1:0.5 2:1.0 3 | f1:0.3 f2 12 |ns a:2 b 17",
    "1:-1e2 2:+3 'tag| 12:3 007 long_feature_name_1:123456.789 x:-.5 |namespace2:2 x 99",
    "2:1 3:5 |12 q 12:1.5 |a b c d e ab abc abcd abcde:4 |b 4294967297 99999999999999:2",
    "1:0 | größe:2 naïve |überschrift größe",
    "| only:1e-3 features:1E3 5.:5. zero:0 a,b;c=d:7",
]


@pytest.mark.parametrize("line", VW_LINES)
@pytest.mark.parametrize("bits", [10, 18])
def test_hashed_features_and_costs_are_those_of_vw(read, line, bits):
    workspace = Workspace(f"--csoaa 3 --quiet --noconstant -b {bits}")
    example = workspace.example(line)
    expected = np.zeros(1 << bits)
    for index, value in example.iter_features():
        expected[index // 4] += value  # VW reserves 4 places per feature
    costs = {item.label: item.cost for item in example.get_label(LabelType.COST_SENSITIVE).costs}
    workspace.finish_example(example)
    workspace.finish()
    dataset = read(line + "\n", features="hashed", bits=bits, classes=[1, 2, 3])
    np.testing.assert_allclose(dataset.X.toarray()[0], expected, rtol=1e-6)
    unknown = float(np.finfo(np.float32).max)  # VW's value for a missing cost
    listed = [costs.get(label, np.nan) for label in (1, 2, 3)]
    np.testing.assert_allclose(dataset.cost[0], [np.nan if cost == unknown else cost for cost in listed])


def test_names_become_columns_in_order_of_first_appearance(read):
    dataset = read("1:0 | b a |n a:2\n1:1 |n a |  c b:3 |m^k x\n")
    assert dataset.feature_names == ("b", "a", "n^a", "c", "m^k^x")
    assert dataset.X.toarray().tolist() == [[1, 1, 2, 0, 0], [3, 0, 1, 1, 1]]


def test_known_names_keep_their_columns_and_new_ones_follow(read):
    dataset = read("1:0 | new b:2\n", feature_names=["a", "b"])
    assert dataset.feature_names == ("a", "b", "new")
    assert dataset.X.toarray().tolist() == [[0, 2, 1]]


def test_numbers_without_a_namespace_are_the_columns(read):
    dataset = read("1:0 | 3:0.5 0\n1:1 | 1:2\n")
    assert dataset.feature_names is None
    assert dataset.X.toarray().tolist() == [[1, 0, 0, 0.5], [0, 2, 0, 0]]
    assert read("1:0 | 3:0.5\n", n_features=9).X.shape == (1, 9)
    assert read("1:0 | 3:0.5 3000000000\n").feature_names == ("3", "3000000000")
    assert read("1:0 |n 3:0.5\n").feature_names == ("n^3",)


def test_a_repeated_feature_is_summed_and_a_zero_dropped(read):
    dataset = read("1:0 | a:1 b:0 a:2.5\n")
    assert dataset.X.data.tolist() == [3.5]
    assert dataset.feature_names == ("a", "b")


def test_namespace_weights_multiply_the_values_of_their_namespace_only(read):
    assert read("1:0 |n:2.5 a b:2 |m c\n").X.toarray().tolist() == [[2.5, 5, 1]]


def test_labels_count_from_one_and_from_zero_if_a_zero_occurs(read):
    assert read("1:0 3:1 | a\n").classes.tolist() == [1, 2, 3]
    assert read("1:0 0:1 | a\n").classes.tolist() == [0, 1]
    assert read("1:0 2:1 | a\n", first_label=0).classes.tolist() == [0, 1, 2]
    assert read("1:0 2:1 | a\n", labels="named").classes.tolist() == ["1", "2"]
    with pytest.raises(FileFormatError, match="line 2: labels must start at 1, got '0'"):
        read("1:0 | a\n0:1 | a\n", first_label=1)


def test_listed_labels_are_the_candidates(read):
    dataset = read("1:0 2 3:1 | a\n2:0.5 1 | a\n| a\n")
    np.testing.assert_array_equal(dataset.cost, [[0, np.nan, 1], [np.nan, 0.5, np.nan], [np.nan] * 3])
    np.testing.assert_array_equal(dataset.candidates, [[1, 1, 1], [1, 1, 0], [1, 1, 1]])
    assert read("1:0 2 | a\n| a\n2:1 1:1 | b").candidates is None


@pytest.mark.parametrize("text", ["1:0 2:1 | a b\n1:1 2:0 | c\n", "1:0\t2:1 |\ta b \r\n\r\n \t\n1:1 2:0 'x| c"])
def test_line_ends_blanks_tags_and_empty_lines_change_nothing(read, text):
    dataset = read(text)
    assert dataset.cost.tolist() == [[0, 1], [1, 0]]
    assert dataset.X.toarray().tolist() == [[1, 1, 0], [0, 0, 1]]
    assert read(b"\xef\xbb\xbf" + text.encode()).fingerprint == dataset.fingerprint
    assert read(gzip.compress(text.encode())).fingerprint == dataset.fingerprint


def test_many_lines_are_read_in_order(read):
    rows = 3000
    dataset = read("".join(f"1:{row} 2:0.5 | {row % 7}:{row + 1}\n" for row in range(rows)))
    np.testing.assert_array_equal(dataset.cost[:, 0], np.arange(rows))
    np.testing.assert_array_equal(dataset.X.data, np.arange(rows) + 1)
    np.testing.assert_array_equal(dataset.X.indices, np.arange(rows) % 7)


@pytest.mark.parametrize(
    ("line", "options", "words"),
    [
        ("1:0 2:1", {}, "a line must have a '|' before its features, got '1:0 2:1'"),
        ("1:0.5 2:", {}, "':' must be followed by one number, got '2:'"),
        ("1:0 2:1x | a", {}, "':' must be followed by one number, got '2:1x'"),
        ("1:0 | a:1 b:0.5.2", {}, "got 'b:0.5.2'"),
        ("1:0 | a:", {}, "got 'a:'"),
        ("1:0 | a:1:2", {}, "got 'a:1:2'"),
        ("1:nan | a", {}, "got '1:nan'"),
        ("1:1e39 | a", {}, "must be finite in float32, got '1:1e39'"),
        ("1:0 | a:inf", {}, "got 'a:inf'"),
        ("1:0 | a:-1e40", {}, "must be finite in float32, got 'a:-1e40'"),
        ("1:0 |n:1e30 a:1e30", {}, "must be finite in float32, got 'a:1e30'"),
        ("1:0 |n:heavy a", {}, "got '|n:heavy'"),
        ("1:0 | :3", {}, "':' must follow a name, got ':3'"),
        (":3 | a", {}, "':' must follow a name, got ':3'"),
        ("1:0 2:1| a", {}, "a blank must separate a label from '|', got '2:1'"),
        ("1:0 'me 2:1 | a", {}, "a tag must be the last word before '|', got \"'me\""),
        ("1:0 1:1 | a", {}, "a line must list each label once, got '1:0 1:1 | a'"),
        ("1:0 2:1 0.5 | a", {}, "example weights are not part of the cost-sensitive format, got '0.5'"),
        ("shared | a", {}, "'shared' and label-dependent features are not supported, got 'shared'"),
        ("1:0 | a", {"features": "numbered"}, "names must be integers without a namespace, got 'a'"),
        ("1:0 | 9876543210", {"features": "numbered"}, "a feature's number must be below 2^31 - 1"),
        ("5:1 | a", {"classes": ["1", "2"]}, "labels must be among '1', '2', got '5'"),
        ("cat:1 | a", {"labels": "numbered"}, "numbered labels must be integers up to 1000000, got 'cat'"),
        ("9999999:1 | a", {}, "numbered labels must be integers up to 1000000, got '9999999'"),
        (b"\xff:1 | a", {}, r"text must be UTF-8, got '\\xff'"),
        (b"1:1 | \xff", {}, r"text must be UTF-8, got '\\xff'"),
    ],
)
def test_a_bad_line_is_named_with_file_number_rule_text_and_remedy(read, line, options, words):
    first = "1:0 | 1\n\n" if "numbered" in options.values() else "1:0 | x\n\n"
    bad = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(FileFormatError) as caught:
        read(first.encode() + bad + b"\n1:0 | x\n", **options)
    message = str(caught.value)
    assert "some.vw, line 3: " in message
    assert words in message
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("content", ["", "\n\n", " \n\t"])
def test_a_file_without_examples_is_an_error(read, content):
    with pytest.raises(FileFormatError, match="must hold at least one example"):
        read(content)


def test_a_file_that_lists_no_label_needs_the_classes(read):
    with pytest.raises(FileFormatError, match=r"must list labels in some line, got none. Pass classes"):
        read("| a\n")
    assert read("| a\n", classes=["cat", "dog"]).cost.shape == (1, 2)


def test_a_truncated_gzip_file_is_an_error(read):
    packed = gzip.compress(b"1:0 2:1 | a b c\n" * 50)
    with pytest.raises(FileFormatError, match="truncated or damaged"):
        read(packed[:-10])


@given(st.integers(0, 200))
def test_a_file_cut_anywhere_gives_an_error_or_whole_lines(rows_of_cut_file, n_bytes):
    assert rows_of_cut_file(n_bytes) in (None, -(-n_bytes // 34))


def test_a_file_cut_between_lines_is_read(rows_of_cut_file):
    assert rows_of_cut_file(3 * 34) == 3


@pytest.fixture(scope="module")
def rows_of_cut_file(tmp_path_factory):
    """The number of rows read from the first bytes of a file of 34 bytes a line; None if the file was refused."""
    text = b"".join(b"1:0.25 2:1.5 | first:0.5 second:2\n" for _ in range(6))
    path = tmp_path_factory.mktemp("cut") / "cut.vw"

    def read(n_bytes):
        path.write_bytes(text[:n_bytes])
        with suppress(FileFormatError):
            return len(read_vw_text(path))
        return None

    return read


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": "magic"}, "features must be one of 'auto', 'numbered', 'named', 'hashed', got 'magic'"),
        ({"bits": 40}, "bits must be one of 1 to 31, got 40"),
        ({"first_label": 2}, "first_label must be one of None, 0, 1, got 2"),
        ({"labels": "x"}, "labels must be one of"),
        ({"n_features": 1}, "n_features must be at least 4"),
    ],
)
def test_a_bad_option_is_named(read, options, words):
    with pytest.raises(InputError, match=words):
        read("1:0 | 3\n", **options)


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (CostDataset([[1]], [[0]], ["two words"]), "In VW text, a label must be one word .* got 'two words'"),
        (CostDataset([[1]], [[0]], ["shared"]), "got 'shared'"),
        (CostDataset([[1]], [[0]], feature_names=["a|b"]), "In VW text, a feature must be one word"),
        (CostDataset([[1]], [[0]], feature_names=["^a"]), "must not begin with '\\^'"),
        (CostDataset([[1]], [[0, 1]], candidates=[[True, False]]), "example 0 breaks that"),
    ],
)
def test_names_that_vw_text_cannot_hold_are_not_written(tmp_path, dataset, words):
    with pytest.raises(InputError, match=words):
        write_vw_text(dataset, tmp_path / "a.vw")
    assert list(tmp_path.iterdir()) == []


MULTICLASS = "3 | a b\n1 'tag| b\n2 | c\n"


def test_an_ordinary_multiclass_file_has_class_labels_and_says_so(read):
    with pytest.warns(UserWarning, match="has one label per line and no costs, so these are read as true labels"):
        dataset = read(MULTICLASS)
    assert dataset.cost.tolist() == [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    assert dataset.candidates is None
    assert read(MULTICLASS, targets="classes").cost.tolist() == dataset.cost.tolist()  # nothing to say
    named = read("cat | a\ndog | b\n| c\n", targets="classes")
    np.testing.assert_array_equal(named.cost, [[0, 1], [1, 0], [np.nan, np.nan]])


def test_the_classes_of_a_multiclass_file_are_those_of_vw(read):
    dataset = read(MULTICLASS, targets="classes")
    vw = Workspace("--oaa 3 --quiet")
    theirs = [vw.parse(line, LabelType.MULTICLASS) for line in MULTICLASS.splitlines()]
    assert dataset.classes[dataset.cost.argmin(axis=1)].tolist() == [one.get_label().label for one in theirs]


def test_labels_without_costs_are_candidates_on_request_or_if_a_line_has_a_cost(read):
    dataset = read(MULTICLASS, targets="costs")
    assert np.isnan(dataset.cost).all()
    assert dataset.candidates.tolist() == [[False, False, True], [True, False, False], [False, True, False]]
    assert read("1:0 | a\n2 | b\n").candidates.tolist() == [[True, False], [False, True]]
    with pytest.raises(FileFormatError, match="every line must have one label without a cost"):
        read("1:0 | a\n2 | b\n", targets="classes")
    with pytest.raises(InputError, match="targets must be one of 'auto', 'costs', 'classes', got 'class'"):
        read(MULTICLASS, targets="class")
