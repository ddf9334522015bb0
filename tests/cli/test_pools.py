"""Predict and rank over the files of a pool, and a labelling project of a ranking."""

import json
from pathlib import Path

import pytest
from pyarrow import parquet

from coalface.cli import main
from tests.cli.commands import json_lines, refused, run

from .commands import LABELS


@pytest.fixture
def pool(calls):
    """Unlabelled calls in three files, and a model that is not sure about them yet."""
    (calls / "pool").mkdir()
    header, *lines = (calls / "calls.csv").read_text().splitlines()
    few = "\n".join([header, *lines[:30]])
    (calls / "few.csv").write_text(few + "\n")
    options = "--label kind --audit-rate 0 --cost-model online --mellowness 0.5"
    assert main(["train", "few.csv", "--model", "m.coal", *options.split()]) == 0
    unlabelled = [line.rsplit(",", 1)[0] for line in lines]
    for number, start in enumerate((0, 60, 100)):
        stop = (60, 100, 150)[number]
        rows = [f"call-{row},{unlabelled[row]}" for row in range(start, stop)]
        (calls / "pool" / f"part-{number}.csv").write_text("\n".join(["id,a,b,c,d", *rows]) + "\n")
    return calls


def test_predict_takes_a_pattern_several_files_or_one_file_with_out(pool, capsys):
    code, out, _ = run(capsys, "predict m.coal pool/*.csv")
    assert code == 0
    assert out.startswith("150 examples in 3 files, ")
    assert "Predictions: NAME.predictions.parquet beside each file." in out
    printed = []
    for number in range(3):
        _, lines, _ = run(capsys, f"predict m.coal pool/part-{number}.csv --reader id=id")
        printed += [(line["id"], line["label"]) for line in json_lines(lines)]
    paths = sorted((pool / "pool").glob("*.predictions.parquet"))
    found = [record for path in paths for record in parquet.read_table(path).to_pylist()]
    assert [(record["id"], record["label"]) for record in found] == printed
    _, out, _ = run(capsys, "predict m.coal pool/part-0.csv pool/part-1.csv --executor processes --workers 1")
    assert out.startswith("0 examples in 0 files; 2 files were finished before.")
    _, out, _ = run(capsys, "predict m.coal pool/part-0.csv --out made")
    assert "Predictions: NAME.predictions.parquet in made." in out
    assert Path("made/part-0.predictions.parquet").is_file()


def test_a_ranking_becomes_a_labelling_project_in_the_order_of_ranks(pool, capsys):
    pytest.importorskip("sqlalchemy")
    from coalface.desk.project.project import Project

    code, out, _ = run(capsys, "rank m.coal pool/*.csv --top 12 --out ranking.parquet")
    assert code == 0
    assert "ranking.parquet: 12 examples, the most worth asking about first." in out
    ids = parquet.read_table("ranking.parquet")["id"].to_pylist()
    code, out, _ = run(capsys, "init next --from-ranking ranking.parquet")
    assert code == 0
    assert out.startswith("next: 12 examples (table), 3 labels")
    project = Project.open("next")
    assert project.labels == LABELS
    assert [project.pool.example_id(place) for place in project.pool.order.tolist()] == ids
    assert set(project.pool.content(0)["cells"]) == {"a", "b", "c", "d"}


def test_json_lines_need_labels(pool, capsys):
    pytest.importorskip("sqlalchemy")
    assert run(capsys, "rank m.coal pool/*.csv --top 3 --out ranking.jsonl")[0] == 0
    assert len([json.loads(line) for line in Path("ranking.jsonl").read_text().splitlines()]) == 3
    assert "--labels must name a file" in refused(capsys, "init next --from-ranking ranking.jsonl")
    Path("labels.txt").write_text("\n".join(LABELS))
    assert run(capsys, "init next --from-ranking ranking.jsonl --labels labels.txt")[0] == 0


def test_where_nothing_is_left_to_ask_the_ranking_is_shorter(pool, capsys):
    _, out, _ = run(capsys, "rank m.coal pool/*.csv --out ranking.parquet")
    assert "About all others, the model would ask nothing, or they are near-duplicates." in out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("predict m.coal lost/*.csv", "No file matches 'lost/*.csv'"),
        (
            "predict m.coal pool/*.csv --executor moon",
            "--executor must be threads, processes, cuda or dask://HOST:PORT",
        ),
        ("predict m.coal pool/*.csv --text a", "--text cannot be used with a pool"),
        ("predict m.coal pool/*.csv --out few.csv", "--out must be a folder"),
        ("rank m.coal pool/*.csv --out lost/ranking.parquet", "--out must lie in a folder that exists"),
        ("rank m.coal pool/*.csv --out ranking.txt", "A ranking must be a .parquet or .jsonl file"),
        ("rank m.coal pool/*.csv --out r.parquet --id ticket", ".csv: there is no column 'ticket' for the ids"),
        ("rank m.coal pool/*.csv --out r.parquet --alike 2", "--alike must be a finite number"),
        ("init next --labels few.csv", "Examples must come from --examples or from --from-ranking"),
        ("init next --from-ranking lost.parquet", "There is no ranking lost.parquet"),
    ],
)
def test_a_mistake_is_one_line(pool, capsys, command, message):
    if command.startswith("init"):
        pytest.importorskip("sqlalchemy")
    assert message in refused(capsys, command)


def test_a_missing_column_names_the_file(pool, capsys):
    (pool / "pool" / "part-3.csv").write_text("id,a,b\nx,1,2\n")
    error = refused(capsys, "predict m.coal pool/part-3.csv --out made")
    assert "part-3.csv: the pool must have every column that the model learned from, missing 'c', 'd'." in error
