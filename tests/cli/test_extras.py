"""Where a package of an extra is missing, every verb that needs it says in one line what to install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from coalface.cli import main
from coalface.extras import EXTRAS

MODULES = {
    "scikit-activeml": "skactiveml",
    "python-multipart": "multipart",
    "cupy-cuda13x": "cupy",
}  # where a package has another name
BLOCKED = """
import sys
from coalface.cli import main
for case in sys.argv[1:]:
    module, command = case.split(" ", 1)
    sys.modules[module] = None  # as if it were not installed
    print(main(command.split()))
    del sys.modules[module]
"""
CASES = [  # the missing module and the command, so ordered that no command before has loaded the module
    "sqlalchemy init q --examples pool.jsonl --labels labels.txt",
    "sqlalchemy label p --annotator judges:severity",
    "sqlalchemy export p answers.jsonl",
    "sqlalchemy import p.zip q",
    "sqlalchemy serve p",
    "tomlkit label p --annotator judges:severity",
    "fastapi serve p",
    "uvicorn serve p",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "pool.jsonl").write_text('{"id": "a", "text": "hello"}\n{"id": "b", "text": "you"}\n')
    (folder / "labels.txt").write_text("x\ny\n")
    assert main(["init", f"{folder}/p", "--examples", f"{folder}/pool.jsonl", "--labels", f"{folder}/labels.txt"]) == 0
    return folder


def test_the_extras_are_those_of_the_package():
    table = tomllib.loads(Path(__file__, "../../../pyproject.toml").resolve().read_text())
    found = {}
    for extra, packages in table["project"]["optional-dependencies"].items():
        for package in packages if extra != "dev" else ():
            name = re.match(r"[\w-]+", package)[0]
            if name != "coalface":
                found[MODULES.get(name, name)] = extra
    assert found == EXTRAS


def test_a_missing_package_is_one_line(project):
    done = subprocess.run([sys.executable, "-c", BLOCKED, *CASES], cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2\n" * len(CASES)), done.stderr
    said = done.stderr.splitlines()
    assert len(said) == len(CASES)
    assert all("Run: pip install 'coalface[app]'" in line for line in said)


WITHOUT_REPORTS = """
import sys
sys.modules["matplotlib"] = sys.modules["jinja2"] = None  # as if they were not installed
from coalface.cli import main
print([main(command.split()) for command in sys.argv[1:]])
"""


def run_without_reports(folder, *commands):
    """The last line on standard output, and the lines on standard error, of commands without coalface[report]."""
    program = [sys.executable, "-c", WITHOUT_REPORTS, *commands]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True)
    return done.stdout.splitlines(), done.stderr.splitlines()


def test_without_the_report_extra_models_work_and_a_drawing_is_refused_before_the_work(tmp_path):
    (tmp_path / "outcomes.csv").write_text("prompt,model,loss\n" + "add,a,0\nadd,b,1\nprove,a,1\nprove,b,0\n")
    (tmp_path / "calls.csv").write_text("length,kind\n" + "1,a\n9,b\n" * 5)
    (tmp_path / "study.toml").write_text("[data]\ncalls = { train = 'calls.csv', label = 'kind' }\n[lines.a]\n")
    out, err = run_without_reports(
        tmp_path,
        "route train outcomes.csv --model r --price a=1,b=2 --value-of-quality 5",
        "route report r outcomes.csv",
        "train calls.csv --label kind --model m",
        "evaluate m calls.csv --label kind",
        "route report r outcomes.csv --figure points.svg",
        "evaluate m calls.csv --label kind --report page.html",
        "simulate calls.csv --label kind --report page.html",
        "sweep study.toml --out results",
    )
    assert out[-1] == "[0, 0, 0, 0, 2, 2, 2, 2]", err
    remedy = "which is not installed. Run: pip install 'coalface[report]'"
    refused = [f"coalface: {option} needs jinja2, {remedy}" for option in ("--figure", "--report", "--report")]
    assert err[-4:] == [*refused, f"coalface: --report needs jinja2, {remedy}, or pass --no-report"]
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("call", "needs"),
    [
        ("evaluation_report(CoalClassifier(['a', 'b']), [[1.0]], cost=[[0, 1]]).to_html('a.html')", "A figure needs"),
        ("simulate(CoalClassifier(), [[1.0]] * 20, [[0, 1]] * 20, X_test=[[1.0]], cost_test=[[0, 1]]).plot()", "plot"),
    ],
)
def test_without_the_report_extra_a_drawing_in_python_is_one_line(call, needs):
    start = "import sys; sys.modules['matplotlib'] = None; from coalface import CoalClassifier, evaluation_report"
    program = f"{start}, simulate\nimport warnings; warnings.simplefilter('ignore')\n{call}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"coalface.errors.InputError: {needs}"), done.stderr
    assert last.endswith("needs matplotlib, which is not installed. Run: pip install 'coalface[report]'")
