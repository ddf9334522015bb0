"""``coalface route``: train, report, and the address that serve refuses."""

import json
import runpy
from pathlib import Path

import pytest

from coalface.cli.entry import main
from coalface.routing import Router
from coalface.routing.desk import ModelOutcome, RoutingDesk

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "routing" / "route_prompts.py"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("outcomes.csv", 0), ("test.csv", 1)):
        EXAMPLE["write_outcomes"](Path(name), *EXAMPLE["prompts"](120, seed))
    return tmp_path


def run(capsys, *words):
    code = main(list(words))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_train_learns_all_outcomes_or_those_it_asks_for_and_report_measures_them(folder, capsys):
    code, out, _ = run(capsys, "route", "train", "outcomes.csv", "--model", "a.router", "--value-of-quality", "0.05")
    assert (code, out) == (0, "a.router: 120 requests, 3 models, learned 360 outcomes of 360\n")
    code, out, _ = run(capsys, "route", "train", "outcomes.csv", "--model", "b.router", "--active", "--json")
    facts = json.loads(out)
    assert facts["value_of_quality"] == 1.0
    assert facts["outcomes"] < facts["outcomes_in_table"] == 360
    assert facts["prices"] == pytest.approx(EXAMPLE["DOLLARS"])
    code, out, _ = run(capsys, "route", "report", "a.router", "test.csv", "--figure", "figure.svg")
    assert (code, "<- in use" in out, "always large" in out) == (0, True, True)
    assert Path("figure.svg").read_text().count("<svg") == 1
    points = json.loads(run(capsys, "route", "report", "a.router", "test.csv", "--json")[1])
    assert points["quality_weight"][-1] is None
    assert points["models"]["small"]["price"] == pytest.approx(0.0002)


def test_active_training_counts_and_pays_only_outcomes_that_the_table_has(folder, capsys):
    lines = Path("outcomes.csv").read_text().splitlines(keepends=True)
    Path("few.csv").write_text("".join([lines[0], *lines[1::2]]))
    words = ("route", "train", "few.csv", "--price", "small=0.25,middle=0.25,large=0.25", "--active")
    facts = json.loads(run(capsys, *words, "--model", "a.router", "--json")[1])
    assert facts["asked"] > facts["outcomes_in_table"] == 180 >= facts["outcomes"]
    assert facts["spent"] == 0.25 * facts["outcomes"]
    router = Router.load("a.router")
    assert (router.outcomes_known_, router.spent_) == (facts["outcomes"], facts["spent"])
    out = run(capsys, *words, "--model", "b.router")[1]
    assert f"learned {facts['outcomes']} outcomes of 180\n" in out
    assert f"Asked for {facts['asked']} outcomes; the table has {facts['outcomes']} of them, which cost" in out


def renamed(source, target, **names):
    """A table of outcomes with other names of its columns, and a column to be ignored."""
    heading, *lines = Path(source).read_text().splitlines()
    heading = ",".join(names.get(name, name) for name in heading.split(","))
    Path(target).write_text("\n".join([f"{heading},day", *(f"{line},{i % 7}" for i, line in enumerate(lines))]) + "\n")


def test_report_reads_the_columns_of_the_training_or_those_that_options_name(folder, capsys):
    names = {"model": "llm", "loss": "wrong", "price": "usd"}
    renamed("outcomes.csv", "train.csv", **names)
    renamed("test.csv", "same.csv", **names)
    renamed("test.csv", "other.csv", model="name", price="usd")
    options = ("--columns", "model=llm,loss=wrong,price=usd", "--ignore", "day")
    assert run(capsys, "route", "train", "train.csv", "--model", "a.router", *options)[0] == 0
    code, found, _ = run(capsys, "route", "report", "a.router", "same.csv")
    assert (code, "<- in use" in found) == (0, True)
    options = ("--columns", "model=name,loss=loss")
    assert run(capsys, "route", "report", "a.router", "other.csv", *options) == (0, found, "")
    lines = [line.rsplit(",", 2)[0] for line in Path("same.csv").read_text().splitlines()]
    Path("bare.csv").write_text("\n".join(lines) + "\n")  # without the price and the ignored column
    assert run(capsys, "route", "report", "a.router", "bare.csv")[0] == 0
    code, _, err = run(capsys, "route", "report", "a.router", "test.csv")
    assert (code, "must have a column 'wrong', got" in err, "On the command line: --columns loss=NAME." in err) == (
        2,
        True,
        True,
    )
    code, _, err = run(capsys, "route", "report", "a.router", "same.csv", "--columns", "price=eur")
    assert (code, "has no column 'eur'" in err, err.endswith("On the command line: --columns price=NAME.\n")) == (
        2,
        True,
        True,
    )


def test_active_training_spends_no_more_than_its_budget_and_less_with_fewer_audits(folder, capsys):
    def spent(*words):
        Path("a.router").unlink(missing_ok=True)
        command = ("route", "train", "outcomes.csv", "--model", "a.router", "--value-of-quality", "0.05", "--active")
        return json.loads(run(capsys, *command, *words, "--json")[1])

    whole = spent()
    assert spent("--audit-rate", "0")["spent"] < whole["spent"]
    assert 0.1 < spent("--budget", "price=0.2")["spent"] <= 0.2 < whole["spent"]
    assert spent("--budget", "costs=9")["outcomes"] == 9 < whole["outcomes"]


def test_train_says_what_a_loss_counts_as_if_the_user_does_not(folder, capsys):
    _, out, _ = run(capsys, "route", "train", "outcomes.csv", "--model", "a.router")
    assert out.splitlines()[1:] == [
        "A loss of 1 counts as 1.0 in the unit of the prices. Say what it costs you with --value-of-quality."
    ]
    assert "1.0, which it says" in run(capsys, "route", "train", "--help")[1]


def test_report_reads_the_journal(folder, capsys):
    router = Router(["small", "large"], [0.5, 2.0])
    router.save("a.router")
    desk = RoutingDesk(router, Path("a.router.journal"))
    desk.take(desk.route("a sum").id, [ModelOutcome("small", 0.25), ModelOutcome("large", 0.0)])
    report = json.loads(run(capsys, "route", "report", "a.router", "--json")[1])
    assert (report["decisions"], report["outcomes"], report["spend"]) == (1, 2, 2.5)
    assert "2 on 1 request" in run(capsys, "route", "report", "a.router")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "outcomes.csv", "--model", "a.router", "--price", "small"), "--price must be NAME=NUMBER"),
        (("train", "outcomes.csv", "--model", "a.router", "--price", "small=1,small=2"), "once, got 'small' twice"),
        (("train", "outcomes.csv", "--model", "a.router", "--ignore", "zz"), "outcomes.csv has no column 'zz'"),
        (("train", "outcomes.csv", "--model", "a.router", "--columns", "price=zz"), "has no column 'zz'"),
        (("train", "outcomes.csv", "--model", "a.router", "--price", "small=1"), "got none for 'large'"),
        (("train", "outcomes.csv", "--model", "a.router", "--columns", "loss=x"), "must have a column 'x'"),
        (("train", "outcomes.csv", "--model", "a.router", "--columns", "cost=x"), "--columns has no 'cost'. Use some"),
        (("train", "outcomes.csv", "--model", "a.router", "--columns", "x"), "--columns must be ROLE=COLUMN"),
        (("train", "outcomes.csv", "--model", "a.router", "--value-of-quality", "0"), "--value-of-quality must be"),
        (("train", "outcomes.csv", "--model", "a.router", "--budget", "price=1"), "--budget limits what --active asks"),
        (
            ("train", "outcomes.csv", "--model", "a.router", "--columns", "model=x"),
            "On the command line: --columns model=NAME.",
        ),
        (("serve", "none.router"), "There is no router none.router. Train one with"),
        (("serve", "none.router", "--host", "0.0.0.0"), "so a token is needed. Set $COALFACE_ROUTE_TOKEN"),
        (("report", "none.router"), "There is no router"),
        (("report", "saved.router", "nosuch"), "There is no file nosuch"),
        (("train", "nosuch", "--model", "a.router"), "There is no file nosuch"),
    ],
)
def test_a_mistake_is_one_line(folder, capsys, monkeypatch, words, message):
    monkeypatch.delenv("COALFACE_ROUTE_TOKEN", raising=False)
    Router(["small", "large"]).save("saved.router")
    code, _, err = run(capsys, "route", *words)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


@pytest.mark.parametrize(
    ("figure", "message"),
    [("f.xyz", "--figure must end in .svg, .png or .pdf, got 'f.xyz'"), ("no/f.svg", "--figure must lie in a folder")],
)
def test_a_figure_that_cannot_be_drawn_is_refused_before_anything_is_printed(folder, capsys, figure, message):
    Router(["small", "middle", "large"], [0.1, 0.5, 2.0]).save("a.router")
    code, out, err = run(capsys, "route", "report", "a.router", "test.csv", "--figure", figure)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_an_existing_router_is_never_overwritten(folder, capsys):
    Path("a.router").write_text("mine")
    code, _, err = run(capsys, "route", "train", "outcomes.csv", "--model", "a.router")
    assert (code, err) == (2, "coalface: a.router exists already. Pass another --model.\n")
