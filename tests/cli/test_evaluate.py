"""``coalface evaluate``."""

import json

import numpy as np
import pytest

from coalface import CoalClassifier, evaluation_report, read_dataset
from tests.cli.commands import refused, run
from tests.pages import assert_needs_nothing_else


@pytest.fixture
def model(calls, capsys):
    assert run(capsys, "train calls.csv --label kind --model m.coal --cost-model online --no-shuffle")[0] == 0
    return calls


def test_the_json_equals_the_report_of_the_library(model, capsys):
    code, out, _ = run(capsys, "evaluate m.coal test.csv --label kind --json")
    train, test = read_dataset("calls.csv", label="kind"), read_dataset("test.csv", label="kind")
    learner = CoalClassifier(model="online").partial_fit(train.X, cost=train.cost, classes=train.classes)
    expected = evaluation_report(learner, test.X, test.cost, feature_names=test.feature_names)
    assert code == 0
    assert json.loads(out) == json.loads(expected.to_json())
    assert {one["name"] for one in json.loads(out)["features"]["refund"]} <= set("abcd")


def test_the_screen_and_the_page_show_the_same_numbers(model, capsys):
    code, out, err = run(capsys, "evaluate m.coal test.csv --label kind --report page.html")
    report = json.loads(run(capsys, "evaluate m.coal test.csv --label kind --json")[1])
    page = (model / "page.html").read_text(encoding="utf-8")
    assert code == 0
    assert str((model / "page.html").resolve()) in err
    assert_needs_nothing_else(page)
    for text in (out, page):
        assert f"{report['cost']['mean']:.4g}" in text
        assert f"{report['calibration']['mean_gap']:.4g}" in text
        assert "m.coal on test.csv" in page


def test_rows_without_a_known_cost_are_counted_and_said(model, capsys):
    lines = (model / "test.csv").read_text().split()[1:11]
    numbers = [[f"{name}:{value}" for name, value in zip("abcd", line.split(","), strict=False)] for line in lines]
    (model / "train.vw").write_text("".join(f"billing:0 other:1 refund:1 | {' '.join(row)}\n" for row in numbers))
    part = [
        f"{'billing:0' if i % 2 else 'billing'} other:0.5 refund:1 | {' '.join(row)}\n" for i, row in enumerate(numbers)
    ]
    (model / "part.vw").write_text("".join(part))
    assert run(capsys, "train train.vw --model vw.coal")[0] == 0
    code, out, _ = run(capsys, "evaluate vw.coal part.vw --json")
    report = json.loads(out)
    assert (code, report["rows"], report["judged"], report["cost"]["mean"]) == (0, 10, 5, 0.0)
    assert "5 rows could not be judged" in run(capsys, "evaluate vw.coal part.vw")[1]


def test_mistakes_are_one_line(model, capsys):
    (model / "log.jsonl").write_bytes(b'\n{"text": "\xff"}\n')
    assert "log.jsonl, line 2: text must be UTF-8" in refused(capsys, "evaluate m.coal log.jsonl --logged")
    assert "There is no file lost.jsonl" in refused(capsys, "evaluate m.coal lost.jsonl --logged")
    assert "--label" in refused(capsys, "evaluate m.coal test.csv --reader ignore=kind")
    assert "There is no model other.coal" in refused(capsys, "evaluate other.coal test.csv")
    assert "--report must lie in a folder that exists" in refused(
        capsys, "evaluate m.coal test.csv --label kind --report lost/page.html"
    )
    (model / "strange.csv").write_text("a,b,c,d,kind\n1,2,3,4,legal\n")
    assert "legal" in refused(capsys, "evaluate m.coal strange.csv --label kind")


def test_evaluating_does_not_change_the_model(model, capsys):
    before = (model / "m.coal").read_bytes()
    run(capsys, "evaluate m.coal test.csv --label kind")
    assert (model / "m.coal").read_bytes() == before
    assert np.isfinite(json.loads(run(capsys, "evaluate m.coal test.csv --label kind --json")[1])["total_cost"])
