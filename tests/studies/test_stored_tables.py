"""Tables by name: what becomes of numbers, categories and empty cells, and which rows are test data."""

import gzip

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from coalface.errors import FileFormatError, InputError
from stored_data import load

N = 60
COATS = ["short", "long", "", "curly"]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.setenv("COALFACE_DATA", str(tmp_path))
    folder = tmp_path / "tabular"
    folder.mkdir()
    return folder


def cells(n=N):
    """Rows of weight, age, coat and label; some weights and coats are missing."""
    random = np.random.default_rng(0)
    weights = [f"{value:.3f}" if value > 1 else "" for value in random.exponential(5.0, n)]
    ages, coats = random.integers(1, 15, n), random.integers(4, size=n)
    kinds = np.where(ages + 3 * coats > 12, "dog", "cat")
    return [[weights[i], str(ages[i]), COATS[coats[i]], str(kinds[i])] for i in range(n)]


def written(path, rows, header="weight,age,coat,label"):
    text = "\n".join([header, *(",".join(row) for row in rows)]) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def parts():
    """Training and test rows of the table, in the order of the data."""
    order = np.random.default_rng(0).permutation(N)
    return order[12:], order[:12]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_features_are_those_of_scikit_learns_encoders_fitted_to_the_training_rows(tables, suffix):
    written(tables / f"pets{suffix}", cells())
    table, (train, test) = np.array(cells()), parts()
    numbers = np.where(table[:, :2] == "", "nan", table[:, :2]).astype(float)
    imputed = SimpleImputer(strategy="median").fit(numbers[train]).transform(numbers)
    scaled = StandardScaler().fit(imputed[train]).transform(imputed)
    encoder = OneHotEncoder(categories=[["curly", "long", "short"]], handle_unknown="ignore", sparse_output=False)
    coats = encoder.fit(table[train][:, [2]][table[train][:, 2] != ""]).transform(table[:, [2]])
    for part, rows in zip(load("tabular/pets"), (train, test), strict=True):
        np.testing.assert_allclose(part.X.toarray(), np.hstack([scaled, coats])[rows], rtol=1e-5, atol=1e-6)
        assert part.classes[part.truth].tolist() == table[rows, 3].tolist()
        assert part.feature_names == ("weight", "age", "coat=curly", "coat=long", "coat=short")
        assert part.cost.tolist() == [[float(kind != "cat"), float(kind != "dog")] for kind in table[rows, 3]]


def test_a_category_without_a_training_row_has_no_feature(tables):
    rows = cells()
    _, test = parts()
    rows[test[0]][2] = "wire"
    written(tables / "pets.csv", rows)
    found = load("tabular/pets").test
    assert found.feature_names == ("weight", "age", "coat=curly", "coat=long", "coat=short")
    assert found.X.toarray()[0, 2:].tolist() == [0, 0, 0]


def test_labels_that_are_integers_stay_integers(tables):
    written(tables / "grades.csv", [[str(i), str(i % 12)] for i in range(48)], header="x,label")
    assert load("tabular/grades").train.classes.tolist() == list(range(12))


def test_the_label_may_be_any_column(tables):
    written(tables / "pets.csv", cells())
    written(tables / "turned.csv", [row[::-1] for row in cells()], header="label,coat,age,weight")
    names = [load(f"tabular/{name}").train.feature_names for name in ("pets", "turned")]
    assert names[1] == ("coat=curly", "coat=long", "coat=short", "age", "weight")
    assert sorted(names[0]) == sorted(names[1])


def test_a_column_without_any_value_is_constant(tables):
    written(tables / "empty.csv", [["", str(i), "ab"[i % 2]] for i in range(20)], header="none,x,label")
    assert not load("tabular/empty").train.X.toarray()[:, 0].any()


def test_a_missing_table_is_named(tables):
    written(tables / "pets.csv", cells())
    with pytest.raises(InputError, match=r"'tabular/pet' is not in the folder"):
        load("tabular/pet")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x,y\n1,2\n", r"line 1: columns must have distinct names, one of them 'label', got \['x', 'y'\]"),
        ("x,x,label\n1,2,a\n", r"line 1: columns must have distinct names"),
        ("", r"columns must have distinct names, one of them 'label', got \[\]"),
        ("x,label\n", r"one of at least two labels, got \[\]"),
        ("x,label\n1,a\n2,a\n", r"one of at least two labels, got \['a'\]"),
        ("x,label\n1,a\n2,\n", r"every row must have one of at least two labels"),
        ("x,label\n1,a\n2\n", r"line 3: every line must have 2 cells like the header, got 1"),
        ("x,label\n1,a\ninf,b\n", r"pets.csv: The column 'x' must hold finite numbers"),
        ("x,label\n1,a\n1e39,b\n", r"pets.csv: The column 'x' must hold finite numbers"),
    ],
)
def test_a_broken_table_is_refused_in_one_line_with_its_file(tables, text, complaint):
    (tables / "pets.csv").write_text(text)
    with pytest.raises(FileFormatError, match=complaint) as caught:
        load("tabular/pets")
    assert str(caught.value).startswith(str(tables / "pets.csv"))
    assert "\n" not in str(caught.value)
