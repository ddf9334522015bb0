"""Writes ``files/`` and ``expected.json``; it was run with version 0.1.0 before the rooms were rearranged.

It is kept to show how the files came to be, and is not run again: newer code must read what that version wrote. The
names that it imports are those of version 0.1.0, and they are imported where they are used, so that pytest can look at
this file for doctests. From a checkout of that version, with this folder in its ``tests``::

    python -m tests.compatibility.write_files
"""

import contextlib
import io
import json
import shutil
from pathlib import Path

import numpy as np

from tests.compatibility import facts
from tests.compatibility.facts import LABELS, NOW, SENTENCES, TAGS, WORDS

HERE = Path(__file__).parent
FILES = HERE / "files"
EXPECTED = {}


class Clock:
    """A time that passes when it is told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        self.now += 0.5
        return self.now


def command(*arguments):
    """What a command prints."""
    from coalface.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main([str(argument) for argument in arguments])
    assert code == 0, arguments
    return printed.getvalue()


# -- models --------------------------------------------------------------------------------------


def learners():
    """Learners by the name of their file, each with the rows to teach it and their costs."""
    import pandas as pd

    from coalface import Budget, CoalClassifier, OracleCoalClassifier, RidgeCoalClassifier

    X, cost = facts.examples(60)
    matrix = np.round(np.abs(np.subtract.outer(range(4), range(4))) / 3.0, 3)
    few = facts.examples(24)
    named = CoalClassifier(LABELS)
    named.tell(pd.DataFrame(X[:1], columns=["age", "length", "price", "size", "weight"]), cost[:1])
    finite = {"kind": "finite", "table": facts.numbers(6, 4, 277).round(3).tolist()}
    return {
        "coal": (CoalClassifier(LABELS), X, cost),
        "coal-audits": (CoalClassifier(LABELS, audit_rate=0.5, warm_up=5), *facts.examples(140)),
        "coal-as-published": (CoalClassifier.as_published(classes=LABELS, warm_up=5), X, cost),
        "coal-cost-matrix": (CoalClassifier(LABELS, cost_matrix=matrix, cost_bounds=(0.0, 2.0)), X, 2.0 * cost),
        "coal-budget": (CoalClassifier(LABELS, budget=Budget(costs=60, over=80), warm_up=0), X, cost),
        "coal-names": (named, X[1:], cost[1:]),
        "coal-abstain": (CoalClassifier(LABELS, abstain_cost=0.45, abstain_label="ask a person"), X, cost),
        "coal-numbers": (CoalClassifier([3, 1, 7, 5], accumulator="adagrad", in_turn=False), X, cost),
        "ridge": (RidgeCoalClassifier(LABELS), X, cost),
        "ridge-fixed": (RidgeCoalClassifier(LABELS, regularization=0.5, warm_up=3), X, cost),
        "oracle": (OracleCoalClassifier(LABELS), *few),
        "oracle-ellipsoid": (
            OracleCoalClassifier(LABELS, oracle={"kind": "ridge", "penalty": 0.5}, ranges="ellipsoid", warm_up=2),
            *few,
        ),
        "oracle-finite": (
            OracleCoalClassifier(LABELS[:3], oracle=finite, ranges="enumeration", warm_up=2),
            *facts.points(24),
        ),
    }


def write_models():
    expected = EXPECTED["models"] = {}
    for name, (learner, X, cost) in learners().items():
        facts.interviewed(learner, X, cost)
        learner.save(FILES / "models" / f"{name}.coalface")
        look, more = X[:4], (X[4:10], cost[4:10])
        expected[name] = {"kind": type(learner).__name__, "now": facts.of_learner(learner, look)}
        expected[name]["later"] = facts.of_learner(facts.interviewed(learner, *more), look)


def write_search():
    from coalface.structured import SearchLearner, SequenceTagger, SequenceTask

    tagger = SequenceTagger(warm_up=4, cost_matrix=[[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]).fit(SENTENCES, TAGS)
    tagger.save(FILES / "models" / "tagger.coalface")
    EXPECTED["tagger"] = {"now": facts.of_tagger(tagger)}
    EXPECTED["tagger"]["later"] = facts.of_tagger(tagger.partial_fit(SENTENCES[:3], TAGS[:3]))
    pairs = list(zip(SENTENCES, TAGS, strict=True))
    learner = SearchLearner(SequenceTask(["D", "N", "V"]), roll_out="mixed", warm_up=4).fit(pairs)
    learner.save(FILES / "models" / "search.coalface")
    EXPECTED["search"] = {"now": facts.of_search(learner)}
    EXPECTED["search"]["later"] = facts.of_search(learner.partial_fit(pairs[:3]))


# -- ledgers -------------------------------------------------------------------------------------


def told(learner, X, cost):
    """An interview with all that a ledger can hold: audits, candidates, "can't tell", late answers, free ones."""
    for i in range(len(X)):
        row = facts.given_to(learner, X[i : i + 1])
        candidates = np.arange(4)[None] != i % 4 if i % 5 == 2 else None
        queries = learner.ask(row, candidates=candidates)
        answers = np.where(queries.mask, cost[i : i + 1], np.nan)
        if i % 7 == 3:
            answers[0, queries.mask[0].argmax()] = np.nan  # the annotator can't tell
        learner.tell(row, answers, asked=queries, candidates=candidates)
        if i % 9 == 4:
            late = np.where(np.arange(4)[None] == i % 4, cost[i : i + 1], np.nan)
            learner.tell(row, late, late=True)
        if i % 11 == 5:
            learner.tell(row, cost[i : i + 1], asked=np.zeros((1, 4), bool))  # told without a question
    return learner


def write_ledgers():
    import pandas as pd

    from coalface import CoalClassifier, JsonLinesLedger, OracleCoalClassifier, RidgeCoalClassifier, SqlLedger

    expected = EXPECTED["ledgers"] = {}
    X, cost = facts.examples(30)
    kinds = {
        "coal": (CoalClassifier, {"audit_rate": 0.4, "warm_up": 5}),
        "coal-budget": (CoalClassifier, {"budget": {"costs": 60, "over": 80}}),
        "ridge": (RidgeCoalClassifier, {"audit_rate": 0.4, "warm_up": 5}),
        "oracle": (OracleCoalClassifier, {"warm_up": 3}),
    }
    for name, (kind, settings) in kinds.items():
        n = 15 if name == "oracle" else 30
        for ending in ("jsonl",) if name == "coal-budget" else ("jsonl", "db"):
            path = FILES / "ledgers" / f"{name}.{ending}"
            ledger = JsonLinesLedger(path) if ending == "jsonl" else SqlLedger(f"sqlite:///{path}")
            learner = kind(LABELS, **settings).record_to(ledger)
            if name == "coal":
                learner.tell(pd.DataFrame(X[:1], columns=["age", "length", "price", "size", "weight"]), cost[:1])
            told(learner, X[:n], cost[:n])
            entries = len(ledger)
            if ending == "db":
                ledger.close()
            now = facts.of_learner(learner, X[:4])
            expected[path.name] = {"kind": kind.__name__, "entries": entries, "now": now}


# -- projects ------------------------------------------------------------------------------------


def cost_of(label, text):
    right = "refund" if "money" in text or "refund" in text else "delivery" if "parcel" in text else "other"
    return 0.0 if label == right else 1.0 if label == "other" else 0.5


def work(desk, who, n):
    """Answer so many questions, follow-ups included; every seventh cost cannot be told."""
    receipts, question = [], None
    for number in range(n):
        question = question or desk.lease(who)
        costs = {label: cost_of(label, question.content["text"]) for label in question.labels}
        if number % 7 == 5:
            costs[question.labels[0]] = None
        key = f"{who} {question.lease_id} {question.id}"
        note = "not sure" if number % 7 == 5 else None
        receipts.append(desk.answer(who, question.id, question.lease_id, costs, key, seconds=2.5, note=note))
        question = receipts[-1].follow_up
    return receipts


def write_mail_project():
    """Costs asked of three annotators, each example of two of them; undone, late and unfinished answers."""
    from coalface.app.desk import Desk
    from coalface.app.project import Project
    from coalface.app.tokens import digest_of

    folder, clock = FILES / "projects" / "mail", Clock()
    mails = [
        {"id": f"mail-{i}", "text": " ".join(WORDS[(i * step + step) % 8] for step in (1, 3, 5))} for i in range(40)
    ]
    project = Project.create(
        folder, mails, LABELS, overlap=2, seed=3, guidelines="Think of the customer.", learner={"warm_up": 4},
        budget={"costs": 200, "price_per_cost": 0.5, "price_per_example": 1.0},
    )  # fmt: skip
    desk = Desk(project, clock=clock)
    desk.store.add_token("ada", "annotator", digest_of("coal_ada"))
    work(desk, "ada", 8)
    work(desk, "bob", 8)
    desk.close()  # writes the first snapshot
    desk = Desk(Project.open(folder), clock=clock)
    receipts = work(desk, "ada", 6)
    overdue = desk.lease("cyd", ttl=60.0)
    clock.now += 100.0
    work(desk, "bob", 4)
    late = dict.fromkeys(overdue.labels, 0.25)
    desk.answer("cyd", overdue.id, overdue.lease_id, late, "late", price=3.0)
    desk.undo("ada", receipts[-1].answer_id)
    desk.settle()
    desk.release(desk.held("ada")[0].lease_id, "ada")
    work(desk, "cyd", 4)
    clock.now = NOW
    desk.lease("bob", ttl=100_000.0)  # still held when the project is looked at
    clock.now = NOW
    EXPECTED["projects"]["mail"] = facts.of_project(desk, ["ada", "bob", "cyd"])
    for form in ("jsonl", "csv", "vw"):
        (FILES / "exports" / f"mail.{form}").write_bytes(b"".join(desk.export(form)))
    desk.close()  # writes the second
    assert len(list(folder.glob("snapshot-*.coalface"))) == 2
    command("export", folder, FILES / "exports" / "mail.coalface")
    command("export", folder, FILES / "exports" / "mail.zip")


def write_truth_project():
    """The true label asked for, the costs of errors from a tree, and vectors instead of words."""
    from coalface.app.desk import Desk
    from coalface.app.project import Project

    folder, clock = FILES / "projects" / "truth", Clock()
    X, cost = facts.examples(40)
    tree = {"billing": "money", "refund": "money", "delivery": "goods", "money": "all", "goods": "all", "other": "all"}
    rows = [{"id": f"ticket/{i}", "text": f"ticket {i}"} for i in range(40)]
    desk = Desk(Project.create(folder, rows, LABELS, tree=tree, features=X, learner={"warm_up": 8}), clock=clock)
    for number in range(12):
        who = "ada" if number % 3 else "bob"
        question = desk.lease(who)
        truth = LABELS[int(np.argmin(cost[int(question.example_id.split("/")[1])]))]
        said = None if number == 6 else truth
        receipt = desk.answer_truth(who, question.id, question.lease_id, said, f"key {number}", seconds=1.5)
        if number == 5:
            desk.close()  # writes the first snapshot
            desk = Desk(Project.open(folder), clock=clock)
        if number == 9:
            desk.undo(who, receipt.answer_id)
            desk.settle()
    clock.now = NOW
    EXPECTED["projects"]["truth"] = facts.of_project(desk, ["ada", "bob"])
    (FILES / "exports" / "truth.jsonl").write_bytes(b"".join(desk.export("jsonl")))
    desk.close()
    command("export", folder, FILES / "exports" / "truth.zip")


# -- the command line ----------------------------------------------------------------------------


def write_sweep():
    """Two permutations of two lines on bundled data; figures and page are left out, they are large."""
    place = FILES / "sweep"
    text = 'title = "Two lines"\npermutations = 2\nbudgets = "doubling"\ndata = ["digits"]\n\n'
    text += '[lines.passive]\nrule = "passive"\n\n[lines.coal]\nmellowness = 0.1\nlearning_rate = [0.1, 0.3]\n'
    place.mkdir()
    (place / "study.toml").write_text(text)
    command("sweep", place / "study.toml", "--out", place / "results", "--workers", 1)
    for file in [*(place / "results").rglob("*.svg"), *(place / "results").rglob("*.html")]:
        file.unlink()
    EXPECTED["sweep"] = facts.of_results(facts.json_lines(place / "results" / "results.jsonl"))


def write_lines():
    """A table, the questions about it, their answers, and the model before them."""
    place = FILES / "lines"
    place.mkdir()
    X, cost = facts.examples(30)
    truth = [LABELS[k] for k in cost.argmin(axis=1)]
    for name, span in (("train", slice(0, 20)), ("new", slice(20, 30))):
        rows = zip(X[span].round(4).tolist(), truth[span], strict=True)
        lines = [",".join([*map(str, row), label]) for row, label in rows]
        (place / f"{name}.csv").write_text("\n".join(["age,length,price,size,weight,team", *lines]) + "\n")
    model = place / "model.coalface"
    command("train", place / "train.csv", "--label", "team", "--model", model, "--audit-rate", 0.3, "--warm-up", 5)
    questions = command("ask", model, place / "new.csv", "--label", "team")
    (place / "questions.jsonl").write_text(questions)
    answers = [json.loads(line) for line in questions.splitlines()]
    for number, line in enumerate(answers):
        if line["ask"]:
            right = truth[20 + line["row"]]
            line["costs"] = {label: None if number == 3 else float(label != right) for label in line["ask"]}
    (place / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))

    from coalface import CoalClassifier

    shutil.copy(model, FILES / "told.coalface")
    command("tell", FILES / "told.coalface", place / "answers.jsonl")
    EXPECTED["lines"] = facts.of_learner(CoalClassifier.load(FILES / "told.coalface"), X[:4])
    (FILES / "told.coalface").unlink()


def write_datasets():
    from coalface import read_dataset

    place, source = FILES / "datasets", FILES / "lines" / "train.csv"
    vw = place / "few.vw"
    place.mkdir()
    vw.write_text("1:0.5 2:1.0 3:0.0 | size:1.5 age:2\n1:0.0 3:1.0 | age:1\n2:0.25 1:0.75 3:1.0 | size:0.5\n")
    command("data", "convert", vw, place / "from-vw")
    command("data", "convert", source, place / "table", "--label", "team")
    command("data", "convert", source, place / "table.npz", "--label", "team")
    command("data", "convert", place / "table", place / "table.vw")
    names = ("few.vw", "from-vw", "table", "table.npz", "table.vw")
    EXPECTED["datasets"] = {name: facts.of_dataset(read_dataset(place / name)) for name in names}


def main():
    shutil.rmtree(FILES, ignore_errors=True)
    for room in ("models", "ledgers", "projects", "exports"):
        (FILES / room).mkdir(parents=True)
    EXPECTED["projects"] = {}
    with facts.quiet():
        write_models()
        write_search()
        write_ledgers()
    write_mail_project()
    write_truth_project()
    write_sweep()
    write_lines()
    write_datasets()
    parts = [f"{json.dumps(part)}: {json.dumps(EXPECTED[part], separators=(',', ':'))}" for part in sorted(EXPECTED)]
    (HERE / "expected.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
