"""Stopping on the command line: runs that end early, and an estimate that lives from one ``tell`` to the next."""

import json

import numpy as np

from coalface import Audits, Coal, CoalClassifier, read_dataset
from tests.cli.commands import LABELS, answered, json_lines, refused, run


def test_a_simulated_run_stops_and_says_so(calls, capsys):
    command = "simulate calls.csv --label kind --test test.csv --audit-rate 1 --rule passive --stop-saving 0.9"
    code, out, _ = run(capsys, f"{command} --json")
    found = json.loads(out)
    assert (code, found["stopped"], found["rounds"][-1]) == (0, True, 100)
    assert "Stopped: more questions would save too little" in run(capsys, command)[1]


def test_stopping_without_audits_is_one_clear_line(calls, capsys):
    err = refused(capsys, "simulate calls.csv --label kind --stop-saving 0.1 --audit-rate 0")
    assert "--stop-saving needs audits" in err


def test_the_estimate_of_lines_told_in_parts_is_that_of_the_questions(calls, capsys):
    run(capsys, f"train --classes {','.join(LABELS)} --model m.coal --audit-rate 0.5 --warm-up 20 --mellowness 0.001")
    data = read_dataset("calls.csv", label="kind")
    column = {name: k for k, name in enumerate(data.classes.tolist())}
    learner = CoalClassifier(LABELS, audits=Audits(0.5), rule=Coal(warm_up=20), mellowness=0.001)
    lines = json_lines(run(capsys, "ask m.coal calls.csv --label kind")[1])
    assert all(line["outlook"]["label"] in LABELS for line in lines)
    for line in lines:
        line["costs"] = {name: float(data.cost[line["row"], column[name]]) for name in line["ask"]}
    parts = [lines[:60], lines[60:]]
    for number, part in enumerate(parts):
        (calls / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in part))
        code, out, _ = run(capsys, f"tell m.coal {number}.jsonl")
        assert code == 0
    queries = learner.ask(data.X)
    learner.tell(data.X, np.where(queries.mask, data.cost, np.nan), asked=queries)
    assert out.splitlines()[-1] == f"More asking could save {learner.saving_}"
    assert learner.saving_.rounds == 150
    # A line without its outlook tells nothing about chances.
    more = json_lines(run(capsys, "ask m.coal new.csv")[1])
    for line in more:
        del line["outlook"]
    (calls / "more.jsonl").write_text("".join(answered(more)))
    assert "More asking could save" not in run(capsys, "tell m.coal more.jsonl")[1]
