"""``coalface data`` with names, and with what holds training and test data at once."""

import json

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from coalface import read_dataset
from coalface.studies.known import load_known
from tests.cli.commands import refused, run
from tests.data.scenarios import runs_by_hand, write_scenario


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """An empty folder, and no other data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COALFACE_DATA", raising=False)
    return tmp_path


def faces(**_):
    return Bunch(data=np.eye(400, 9, dtype=np.float32) + 1, target=np.arange(400) // 10)


def test_the_list_says_what_is_here_and_how_to_get_the_rest(capsys):
    code, out, err = run(capsys, "data list")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    assert rows["digits"][1:6] == ["1,297", "500", "10", "bundled", "yes"]
    assert rows["olivetti"][1:6] == ["280", "120", "40", "fetched", "no"]
    assert "To get olivetti: coalface data fetch olivetti --into DIR" in out


def test_the_list_as_json_holds_the_same(capsys):
    code, out, _ = run(capsys, "data list --json")
    found = {known["name"]: known for known in json.loads(out)}
    assert code == 0
    assert found["iris"]["there"]
    assert found["rcv1"]["remedy"] == "coalface data fetch rcv1 --into DIR"


def test_info_takes_a_name_and_shows_both_parts(capsys):
    code, out, _ = run(capsys, "data info iris --json")
    found = json.loads(out)
    assert code == 0
    assert (found["train"]["n_examples"], found["test"]["n_examples"]) == (105, 45)
    assert found["train"]["fingerprint"] == load_known("iris").train.fingerprint
    out = run(capsys, "data info iris")[1]
    assert ["examples", "105", "45"] in [line.split() for line in out.splitlines()]
    assert "Labels: setosa, versicolor, virginica" in out


def test_a_path_that_exists_comes_before_a_name(nowhere, capsys):
    wine = load_known("wine").test
    wine.save(nowhere / "iris")
    code, out, _ = run(capsys, "data info iris --json")
    assert code == 0
    assert json.loads(out)["fingerprint"] == wine.fingerprint


def test_info_tells_the_price_of_a_cost(nowhere, capsys):
    write_scenario(nowhere / "TOY", list(runs_by_hand()))
    code, out, _ = run(capsys, "data info TOY --json")
    assert code == 0
    assert 0 < json.loads(out)["train"]["mean_price"] <= 100
    assert "mean price of a cost" in run(capsys, "data info TOY")[1]


@pytest.mark.parametrize(
    ("options", "suffix"), [("", ""), ("--to folder", ""), ("--to vw", ".vw"), ("--to npz", ".npz")]
)
def test_a_name_is_converted_to_both_of_its_parts(nowhere, capsys, options, suffix):
    code, out, err = run(capsys, f"data convert iris flowers {options}")
    assert (code, err) == (0, "")
    for part, dataset in load_known("iris")._asdict().items():
        written = read_dataset(
            nowhere / "flowers" / f"{part}{suffix}", **({} if suffix != ".vw" else {"classes": dataset.classes})
        )
        np.testing.assert_array_equal(written.cost, dataset.cost)
        assert f"{part}{suffix}: CostDataset('iris'" in out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "data info iriss",
            "There is no data named 'iriss'. Did you mean 'iris'? `coalface data list` shows all names.\n",
        ),
        ("data info covertype", "Run `coalface data fetch covertype --into DIR`"),
        ("data info lost.csv", "There is no file or folder lost.csv"),
        ("data info iris --label kind", "takes no reader options, got label"),
        ("data convert iris flowers.vw", "DST must be a folder, got flowers.vw"),
        ("data convert iris flowers --to xls", "must be one of vw, csv, npz, folder"),
        ("data fetch olivetti", "Run `coalface data fetch olivetti --into DIR`, or set COALFACE_DATA"),
        ("data fetch iris --into here", "'iris' is bundled and needs no fetching"),
        ("data fetch digits", "'digits' is bundled and needs no fetching. Use it by its name."),
        ("data fetch covtype", "no data named 'covtype'. Did you mean 'covertype'?"),
    ],
)
def test_a_mistake_is_one_line(capsys, command, said):
    assert said in refused(capsys, command)


def test_what_was_fetched_is_found_by_its_name(nowhere, capsys, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", faces)
    code, out, _ = run(capsys, "data fetch olivetti --into store")
    assert code == 0
    assert "olivetti/train: CostDataset('olivetti', 280 examples, 9 features, 40 labels)" in out
    assert out.splitlines()[-1] == f"To use it by its name, set COALFACE_DATA={nowhere / 'store'}"
    monkeypatch.setenv("COALFACE_DATA", str(nowhere / "store"))
    assert json.loads(run(capsys, "data info olivetti --json")[1])["test"]["n_examples"] == 120
    again = run(capsys, "data fetch olivetti")
    assert again[0] == 2
    assert "Downloading" not in again[2]


def test_a_download_that_fails_is_one_line_and_leaves_nothing(nowhere, capsys, monkeypatch):
    def unreachable(**_):
        print("downloading from somewhere")
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", unreachable)
    code, out, err = run(capsys, "data fetch olivetti --into store")
    assert (code, out) == (2, "")
    assert err.splitlines()[1:] == [
        "coalface: olivetti could not be downloaded (no route to host), and nothing was written. "
        "Check the network and try again."
    ]
    assert list(nowhere.iterdir()) == []


def test_a_model_of_words_reads_new_words_like_its_own(nowhere, capsys):
    (nowhere / "a.conll").write_text("The DT\ncat NN\n\nA DT\ndog NN\n")
    (nowhere / "b.conll").write_text("The DT\ndog DT\n")
    assert run(capsys, "train a.conll --model m.coal --reader bits=10")[0] == 0
    code, out, _ = run(capsys, "predict m.coal b.conll --reader bits=10")
    assert code == 0
    assert [json.loads(line)["label"] for line in out.splitlines()] == ["DT", "NN"]
    assert json.loads(run(capsys, "data info a.conll --reader tag=0 --reader word=1 --json")[1])["n_labels"] == 4


def test_the_command_that_the_list_advises_works(nowhere, capsys, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", faces)
    advice = next(line for line in run(capsys, "data list")[1].splitlines() if "fetch olivetti" in line)
    command = advice.partition(": coalface ")[2].replace("DIR", "store")
    assert run(capsys, command)[0] == 0
    assert (nowhere / "store" / "olivetti" / "train").is_dir()


def test_a_cost_matrix_with_names_is_matched_by_name(nowhere, capsys):
    (nowhere / "pets.csv").write_text("weight,kind\n4,cat\n20,dog\n")
    (nowhere / "named.csv").write_text(",dog,cat\ndog,0,0.5\ncat,1,0\n")
    (nowhere / "bare.csv").write_text("0,1\n0.5,0\n")
    told = [
        run(capsys, f"data info pets.csv --label kind --cost-matrix {name}.csv --json") for name in ("named", "bare")
    ]
    assert [code for code, _, _ in told] == [0, 0]
    assert len({json.loads(out)["fingerprint"] for _, out, _ in told}) == 1
    (nowhere / "named.csv").write_text(",dog,cow\ndog,0,0.5\ncow,1,0\n")
    err = refused(capsys, "data info pets.csv --label kind --cost-matrix named.csv")
    assert "has a row named 'cow', which is not a label" in err
    assert "On the command line: --reader classes=..." in err


def test_the_help_says_how_a_matrix_without_names_is_read(capsys):
    assert "labels in sorted order" in " ".join(run(capsys, "data info --help")[1].replace("│", " ").split())
