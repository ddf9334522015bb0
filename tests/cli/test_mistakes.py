"""Help, version, and that a mistake is one clear line and changes nothing."""

import os
import re
import shlex
import subprocess
import sys

import pytest
import typer

import coalface
from coalface.cli import main
from coalface.cli.app import app
from tests.cli.commands import refused, run, verbs
from tests.documentation.roles import verb_of


@pytest.mark.parametrize("verb", [(), *verbs(typer.main.get_command(app))], ids=" ".join)
def test_every_help_has_an_example_of_that_very_verb(verb, capsys):
    code, out, err = run(capsys, " ".join([*verb, "--help"]))
    assert (code, err) == (0, "")
    examples = [line for line in out.splitlines() if line.strip().startswith("Example: coalface")]
    assert examples
    assert all(" ".join(("coalface", *verb)) in line for line in examples)
    for line in examples:
        named, rest = verb_of(shlex.split(line.split("coalface ", 1)[1]))
        known = {name for option in named.params for name in (*option.opts, *option.secondary_opts)}
        given = rest[: [*rest, "--"].index("--")]  # what follows are options of VW
        assert {word.split("=")[0] for word in given if word.startswith("--")} <= known, line


@pytest.mark.parametrize("verb", [(), *verbs(typer.main.get_command(app))], ids=" ".join)
def test_no_help_names_a_file_of_the_repository(verb, capsys):
    assert not re.search(r"\bdocs/|\.md\b", run(capsys, " ".join([*verb, "--help"]))[1])


def test_the_version_is_that_of_the_package(capsys):
    assert run(capsys, "--version") == (0, f"coalface {coalface.__version__}\n", "")


def test_no_verb_at_all_shows_the_help(capsys):
    assert run(capsys, "") == run(capsys, "--help")


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from coalface.cli import main; main(['simulate', '--help']);"
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_shell_completes_verbs():
    done = subprocess.run(
        [sys.executable, "-c", "from coalface.cli import main; main()"],
        env={**os.environ, "_COALFACE_COMPLETE": "complete_bash", "COMP_WORDS": "coalface sim", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "simulate"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nonsense", "nonsense"),
        ("simulate", "DATA"),
        ("simulate missing.csv", "There is no file or folder missing.csv"),
        ("simulate calls.csv", "to name the column of the true label. On the command line: --label."),
        ("simulate calls.csv --label kind --cost-bounds 1 0", "--cost-bounds must be finite"),
        ("simulate calls.csv --label kind --seed -1", "--seed"),
        ("simulate calls.csv --label kind --test test.csv --seed -1", "--seed"),
        ("simulate calls.csv --label kind --rule greedy", "--rule must be one of 'coal'"),
        ("simulate calls.csv --label kind --mellowness much", "--mellowness"),
        ("simulate calls.csv --label kind --mellowness -1", "--mellowness must be"),
        (
            "simulate calls.csv --label kind --cost-bounds 0 0.5",
            "must lie in [0, 0.5], got 1.0. Pass cost_bounds=(low, high) if your costs have another range. "
            "On the command line: --cost-bounds.",
        ),
        (
            "simulate calls.csv --label kind --learning-rate much",
            "--learning-rate': it must be a number or auto, got 'm",
        ),
        ("simulate calls.csv --label kind --learning-rate 0", "--learning-rate must be"),
        ("train calls.csv --label kind --model m.coal --warm-up 5.5", "it must be a whole number or auto, got '5.5'"),
        ("simulate calls.csv --label kind --batch 0", "--batch must be a whole number"),
        ("simulate calls.csv --label kind --alike 2", "--alike must be a finite number greater than 0"),
        ("simulate calls.csv --label kind --test-fraction 7", "--test-fraction must"),
        ("simulate calls.csv --label kind --checkpoints 10,many", "--checkpoints must be"),
        (
            "simulate calls.csv --label kind --checkpoints tripling",
            "must be doubling, quarter-doubling or whole numbers",
        ),
        ("simulate calls.csv --label kind --budget costs", "--budget must be NAME=NUMBER"),
        ("simulate calls.csv --label kind --budget 3", "--budget must be NAME=NUMBER,NAME=NUMBER, got '3'"),
        ("simulate calls.csv --label kind --budget costs=9,costs=8", "--budget must have each name once, got 'costs'"),
        ("simulate calls.csv --label kind --budget costs=9,cost=1", "--budget has no 'cost'. Use some of over, costs"),
        ("simulate calls.csv --label kind --report lost/run.html", "--report must lie in a folder that exists"),
        ("simulate calls.csv --label kind --reader ignore", "--reader must be NAME=VALUE"),
        ("simulate calls.csv --label kind --reader bits=4", "no option 'bits'"),
        ("simulate calls.csv --format excel", "rename the file. On the command line: --format."),
        ("train --model m.coal", "--classes"),
        ("train --classes a,,b --model m.coal", "--classes must be names with a comma between them, got 'a,,b'"),
        ("train --classes a,b,a --model m.coal", "--classes must be distinct, got 'a' twice"),
        ("train calls.csv --model m.coal --reader classes=a,", "--reader classes must be names"),
        ("train calls.csv --label kind --model lost/m.coal", "--model must lie in a folder that exists"),
        ("train calls.csv --label kind --model missing.coal --continue", "There is no model missing.coal"),
        ("predict calls.csv new.csv", "calls.csv is not a coalface model"),
        ("ask missing.coal new.csv", "There is no model missing.coal"),
        ("tell missing.coal -", "There is no model missing.coal"),
        ("data info new.csv", "to name the column of the true label. On the command line: --label."),
        ("data info empty.csv", "empty.csv must begin with a line of column names, got an empty file"),
        ("data convert calls.csv calls.xyz --label kind", "rename the file. On the command line: --to."),
        ("data convert calls.csv lost/calls.vw --label kind", "lost/calls.vw: There is no folder"),
        ("demo --permutations 0", "--permutations must be at least 1"),
    ],
)
def test_a_mistake_is_exit_code_2_and_one_line_that_names_it(calls, capsys, command, said):
    before = sorted(calls.iterdir())
    assert said in refused(capsys, command)
    assert sorted(calls.iterdir()) == before


def test_debugging_shows_where_an_error_came_from(monkeypatch):
    monkeypatch.setenv("COALFACE_DEBUG", "1")
    with pytest.raises(coalface.errors.FileFormatError):
        main(["data", "info", "missing.csv"])


def test_hints_name_options_that_readers_have():
    from inspect import signature

    from coalface.cli.option_values import READER_OPTIONS
    from coalface.data.formats import readers

    found = {name for read in vars(readers)["_READERS"].values() for name in list(signature(read).parameters)[1:]}
    assert found == READER_OPTIONS


def test_a_hint_never_names_an_option_that_the_verb_lacks():
    from coalface.cli.entry import _with_options
    from coalface.errors import InputError

    problem = InputError("Too large.", remedy={"cost_bounds": None})
    assert _with_options(problem, {"label": "--label", "reader": "--reader"}) == "Too large."


def test_checkpoints_that_do_not_exist(calls, capsys):
    message = refused(capsys, "simulate calls.csv --label kind --checkpoints foo")
    assert (
        "--checkpoints must be doubling, quarter-doubling or whole numbers such as 100,500,1000, got 'foo'" in message
    )
