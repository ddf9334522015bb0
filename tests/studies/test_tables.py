"""Tables of a sweep: the same findings give the same bytes, everything comes back, and damage is named."""

import dataclasses
import gzip
import json
import random

import numpy as np
import pytest

from coalface.errors import FileFormatError, InputError
from coalface.studies.findings import Findings, FinishedRun
from coalface.studies.selection import choose_rates
from coalface.studies.tables import read_tables, write_tables
from tests.studies.made_findings import BASELINES, LINES, a_run, findings, learning

FILES = {"sweep.json", "data.csv", "runs.csv", "curves.csv", "timings.csv", "timings.json"}
TIMES = {"timings.csv", "timings.json"}


@pytest.fixture
def study():
    return learning(LINES | BASELINES, data=("digits", 'a "strange", näme'), price_unit="seconds", n=2)


@pytest.fixture
def folder(tmp_path, study):
    write_tables(study, tmp_path / "out")
    return tmp_path / "out"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def same(one, other):
    return one == other or (one != one and other != other)


def test_everything_comes_back_but_the_checkpoints_of_rates_that_lost(folder, study):
    again = read_tables(folder)
    for field in dataclasses.fields(Findings):
        if field.name != "runs":
            assert getattr(again, field.name) == getattr(study, field.name)
    kept = {(choice.data, choice.line, choice.rate) for choice in choose_rates(study)}
    assert len(again.runs) == len(study.runs)
    for run, back in zip(study.runs, again.runs, strict=True):
        for field in dataclasses.fields(FinishedRun):
            if field.name != "points":
                assert same(getattr(run, field.name), getattr(back, field.name))
        if (run.data, run.line, run.learning_rate) in kept:
            for name in ("costs_queried", "examples_queried", "test_cost", "spent"):
                assert np.array_equal(getattr(run.points, name), getattr(back.points, name), equal_nan=True)
                assert getattr(run.points, name).dtype == getattr(back.points, name).dtype
        else:
            assert back.points is None


def test_the_order_in_which_runs_finished_leaves_no_trace(tmp_path, folder, study):
    shuffled = list(study.runs)
    random.Random(3).shuffle(shuffled)
    write_tables(dataclasses.replace(study, runs=tuple(shuffled)), tmp_path / "other")
    assert contents(folder) == contents(tmp_path / "other")


def test_time_is_in_files_of_its_own(tmp_path, folder, study):
    slower = tuple(dataclasses.replace(run, seconds=99.0) for run in study.runs)
    write_tables(dataclasses.replace(study, runs=slower, timings={"all": "9 h"}), tmp_path / "slow")
    before, after = contents(folder), contents(tmp_path / "slow")
    assert set(before) == FILES
    assert {name for name in FILES if before[name] != after[name]} == TIMES


def test_writing_what_was_read_changes_nothing(folder, tmp_path):
    write_tables(read_tables(folder), tmp_path / "again")
    assert contents(folder) == contents(tmp_path / "again")


def test_lines_end_with_a_line_feed_on_every_system(folder):
    assert all(b"\r" not in content and content.endswith(b"\n") for content in contents(folder).values())


def test_a_run_of_which_only_the_end_was_kept_stays_one(tmp_path):
    run = dataclasses.replace(a_run([100], [1 / 3], line="passive"), points=None)
    write_tables(findings([run]), tmp_path)
    assert read_tables(tmp_path).runs[0].points is None
    assert read_tables(tmp_path).runs[0].test_cost == 1 / 3


def cut_last_number(text):
    return text[:-4]


def drop_last_row(text):
    return "\n".join(text.splitlines()[:-1]) + "\n"


def in_line(number, old, new):
    def change(text):
        lines = text.split("\n")
        assert old in lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(old, new, 1)
        return "\n".join(lines)

    return change


@pytest.mark.parametrize(
    ("file", "damage", "said"),
    [
        ("runs.csv", cut_last_number, r"runs.csv, line \d+: the last line must end with a line feed"),
        ("runs.csv", drop_last_row, r"runs.csv: it must have 72 rows, as sweep.json says, got 71"),
        ("runs.csv", in_line(1, "rule", "rules"), "runs.csv, line 1: the columns must be data,line,rule"),
        (
            "runs.csv",
            in_line(3, "0.1,", "fast,"),
            "runs.csv, line 3: learning_rate must be a number or auto, got 'fast'",
        ),
        ("runs.csv", in_line(3, ",12800,", ",12.5,"), "line 3: costs_queried must be a whole number, got '12.5'"),
        ("runs.csv", in_line(4, "digits", "mnist"), "line 4: data 'mnist' is not one of the study's"),
        ("runs.csv", in_line(4, ",costs,", ",gifts,"), "line 4: asks 'gifts' is not one of the study's"),
        ("runs.csv", in_line(3, "0.1,1", "0.1,0"), "line 3: this run occurs twice"),
        ("runs.csv", in_line(3, ",", ";"), "line 3: a row has 12 cells, got 11"),
        ("curves.csv", in_line(2, "passive", "pensive"), "curves.csv, line 2: the run .* is not in runs.csv"),
        ("curves.csv", in_line(30, ",12800,", ",12801,"), "the last checkpoint of .* must equal its end in runs.csv"),
        ("timings.csv", in_line(2, "0.25", "soon"), "timings.csv, line 2: seconds must be a number, got 'soon'"),
        ("data.csv", lambda text: text.replace("digits", '"digits'), "data.csv, line 3: invalid CSV"),
        ("sweep.json", cut_last_number, "sweep.json must be JSON"),
        ("sweep.json", lambda text: text.replace('"format": 1', '"format": 7'), "from 1 to 1, got 7. Upgrade coalface"),
        ("sweep.json", lambda text: text.replace('"missing": 0', '"missing": "a"'), "missing must be of type int"),
        (
            "sweep.json",
            lambda text: text.replace('"baseline": "passive"', '"baseline": "x"'),
            "one of the lines, got 'x'",
        ),
        ("timings.json", lambda _: "[]", "timings.json must hold an object, got list"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name_and_place(folder, file, damage, said):
    path = folder / file
    path.write_bytes(damage(path.read_text(encoding="utf-8")).encode())
    with pytest.raises(FileFormatError, match=said) as caught:
        read_tables(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", sorted(FILES - TIMES))
def test_a_missing_file_is_named_with_a_remedy(folder, file):
    (folder / file).unlink()
    with pytest.raises(FileFormatError, match=rf"{file} is missing. Write the tables of the sweep again"):
        read_tables(folder)


def test_without_the_files_of_times_everything_else_comes_back(folder):
    whole = read_tables(folder)
    for file in TIMES:
        (folder / file).unlink()
    rest = read_tables(folder)
    assert whole.timings
    assert rest.timings == {}
    assert all(np.isnan(run.seconds) for run in rest.runs)
    for field in dataclasses.fields(Findings):
        if field.name not in ("runs", "timings"):
            assert getattr(rest, field.name) == getattr(whole, field.name)
    for run, other in zip(rest.runs, whole.runs, strict=True):
        for field in dataclasses.fields(FinishedRun):
            if field.name not in ("seconds", "points"):
                assert same(getattr(run, field.name), getattr(other, field.name))


@pytest.mark.parametrize("named", ["nowhere", "a file"])
def test_the_error_for_a_missing_folder_says_so(tmp_path, named):
    (tmp_path / "a file").write_bytes(b"")
    with pytest.raises(InputError, match=rf"{named} must be a sweep folder, but it does not exist"):
        read_tables(tmp_path / named)


def test_the_error_for_any_other_folder_says_how_to_make_a_sweep(tmp_path):
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(InputError, match=r"is not a sweep folder: .* `coalface sweep STUDY.toml --out FOLDER`"):
        read_tables(tmp_path)


def test_results_without_tables_ask_for_the_tables(tmp_path):
    (tmp_path / "results.jsonl").write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"sweep.json is missing. Write the tables of the sweep again"):
        read_tables(tmp_path)


def test_bytes_that_are_no_text_are_refused(folder):
    (folder / "runs.csv").write_bytes(b"\xff\xfe\n")
    with pytest.raises(FileFormatError, match=r"runs.csv must be UTF-8 text"):
        read_tables(folder)


def test_the_sweep_file_is_readable_by_people(folder):
    text = (folder / "sweep.json").read_text(encoding="utf-8")
    assert json.loads(text)["title"] == "A made study"
    assert "\n  " in text


def test_runs_that_do_not_belong_to_the_study_are_not_written(tmp_path):
    passive = a_run([100], [0.5], line="passive")
    with pytest.raises(InputError, match="got 'digits' and 'coal'"):
        write_tables(findings([passive, a_run([100], [0.5])], lines=["passive"]), tmp_path / "out")
    with pytest.raises(InputError, match="twice"):
        write_tables(findings([passive, passive]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def packed(folder):
    """Every table of the folder packed by gzip."""
    for path in folder.glob("*.csv"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
    return folder


def test_tables_may_be_packed_to_be_kept(tmp_path, folder, study):
    write_tables(read_tables(packed(folder)), tmp_path / "again")
    write_tables(study, tmp_path / "plain")
    assert contents(tmp_path / "again") == contents(tmp_path / "plain")


def test_a_packed_table_that_is_cut_off_is_named(folder):
    cut = packed(folder) / "runs.csv.gz"
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(FileFormatError, match=r"runs\.csv\.gz must be packed by gzip"):
        read_tables(folder)
