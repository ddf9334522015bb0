"""The form of CSV files on the command line: what was found is said on standard error, and options say it instead."""

import subprocess
import sys

import pytest

from coalface.cli import main
from tests.cli.commands import json_lines, refused, run

ROWS = [f"{i % 7 + 0.5}|grün {i % 3}|{'ja' if i % 7 < 3 else 'nein'}" for i in range(30)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "\n".join(["kg|farbe|art", *ROWS])
    (tmp_path / "points.csv").write_text(text.replace("|", ","), encoding="utf-8")
    (tmp_path / "commas.csv").write_text(text.replace(".", ",").replace("|", ";"), encoding="cp1252")
    (tmp_path / "excel.tsv").write_text(text.replace(".", ",").replace("|", "\t"), encoding="utf-16")
    return tmp_path


FORM = "--separator ; --decimal , --encoding cp1252"


@pytest.mark.parametrize("how", ["", "--block 7", FORM, f"{FORM} --block 7"])
@pytest.mark.parametrize("name", ["commas.csv", "excel.tsv"])
def test_every_form_gives_the_same_predictions(capsys, name, how):
    how = how.replace(";", "tab").replace("cp1252", "utf-16") if name == "excel.tsv" else how
    assert run(capsys, "train points.csv --label art --text farbe --model m.coal")[0] == 0
    code, wanted, _ = run(capsys, "predict m.coal points.csv --ignore art --costs")
    assert code == 0
    assert run(capsys, f"predict m.coal {name} --ignore art --costs {how}")[:2] == (0, wanted)
    assert len(json_lines(wanted)) == 30


def test_all_verbs_that_read_examples_know_the_form(capsys):
    run(capsys, f"train commas.csv --label art --model m.coal {FORM}")
    for command in (
        f"evaluate m.coal commas.csv --label art --json {FORM}",
        f"ask m.coal commas.csv --ignore art {FORM}",
        f"simulate commas.csv --label art --json {FORM}",
        f"simulate commas.csv --label art --json --stream {FORM}",
        f"data info commas.csv --label art {FORM}",
        f"data convert commas.csv commas --label art {FORM}",
    ):
        code, out, err = run(capsys, command)
        assert code == 0, err
        assert out


def test_what_was_found_is_one_line_on_standard_error(folder):
    command = [sys.executable, "-m", "coalface", "data", "info", "commas.csv", "--label", "art", "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(json_lines(found.stdout)) == 1
    assert found.stderr == (
        "coalface: commas.csv was read with semicolons between cells, decimal commas and the encoding cp1252, as its "
        "first lines suggest. Pass separator, decimal or encoding if that is wrong.\n"
    )


def test_training_goes_on_with_the_form_of_the_first_lines(capsys, monkeypatch, folder):
    rows = [line.replace("grün", "rot") for line in ROWS[:12]] + ROWS[12:]
    text = "\n".join(["kg|farbe|art", *rows]).replace(".", ",").replace("|", ";")
    (folder / "late.csv").write_text(text, encoding="cp1252")
    command = "train late.csv --label art --text farbe --block 10 --checkpoint-every 5 --resume --model"
    for name in ("at_once.coal", "m.coal"):
        if name == "m.coal":
            stop_after(monkeypatch, 2, f"{command} {name}")
        code, _, err = run(capsys, f"{command} {name}")
        assert code == 0, err
    wanted = run(capsys, "predict at_once.coal points.csv --ignore art --costs")
    assert run(capsys, "predict m.coal points.csv --ignore art --costs") == wanted


class Stopped(BaseException):
    """Ends a command as a kill would."""


def stop_after(monkeypatch, saves, command):
    from coalface.learner import NamedLearner

    save, count = NamedLearner.save, [0]

    def counted(self, path):
        save(self, path)
        count[0] += 1
        if count[0] == saves:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(NamedLearner, "save", counted)
        with pytest.raises(Stopped):
            main(command.split())


@pytest.mark.parametrize(
    ("text", "options", "words", "hint"),
    [
        ("a,b;art\n1,5;x\n", "", "the separator may be commas or semicolons", "--separator"),
        ("a;art\n1\n", "", "line 2: every line must have 2 cells", "--separator"),
        ("a;cost:x;cost:y\n1;1,000;0\n", "", "a cost must be a finite number, got '1,000'", "--decimal ,"),
        ("a;cost:x;cost:y\n1;0,5;1.250\n", "", "must not have a point, got '1.250'", "--decimal ."),
        ("a;art\n1;x\n", "--encoding klingon", "--encoding must be one that Python knows", None),
        ("a;art\n1;x\n", "--decimal ;", "--decimal must be '.' or ','", None),
    ],
)
def test_what_cannot_be_decided_is_one_line_that_names_the_option(capsys, folder, text, options, words, hint):
    (folder / "bad.csv").write_text(text)
    label = "" if "cost:" in text else "--label art"
    code, out, err = run(capsys, f"train bad.csv {label} --model bad.coal {options}")
    *notes, line = err.splitlines(keepends=True)
    assert (code, out, len(notes)) == (2, "", sum("was read with" in note for note in notes))
    assert words in line
    assert hint is None or line.endswith(f"On the command line: {hint}.\n")


def test_text_in_no_encoding_that_shows_names_the_option(capsys, folder):
    (folder / "bad.csv").write_text("a,art\n1,привет\n", encoding="cp1251")
    line = refused(capsys, "train bad.csv --label art --model bad.coal")
    assert "bad.csv, line 2: text must be UTF-8." in line
    assert line.endswith("On the command line: --encoding.\n")
