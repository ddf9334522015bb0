"""Where a package of an extra is missing, every verb that needs it says in one line what to install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from coalface.cli import main
from coalface.cli.entry import EXTRAS

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


def test_without_matplotlib_models_work_and_a_figure_is_one_line(tmp_path):
    (tmp_path / "outcomes.csv").write_text("prompt,model,loss\n" + "add,a,0\nadd,b,1\nprove,a,1\nprove,b,0\n")
    commands = (
        "route train outcomes.csv --model r --price a=1,b=2 --value-of-quality 5",
        "route report r outcomes.csv",
        "route report r outcomes.csv --figure points.svg",
    )
    start = "import sys; sys.modules['matplotlib'] = None; from coalface.cli import main"
    program = f"{start}; print([main(command.split()) for command in sys.argv[1:]])"
    done = subprocess.run([sys.executable, "-c", program, *commands], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 2]", done.stderr
    assert done.stderr.endswith("This needs matplotlib, which is not installed. Run: pip install matplotlib\n")
