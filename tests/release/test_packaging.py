"""What belongs to a release agrees with the code."""

import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from inspect import isclass, isfunction
from pathlib import Path

import pytest
import yaml
from hatchling.metadata.core import ProjectMetadata
from hatchling.metadata.spec import DEFAULT_METADATA_VERSION, get_core_metadata_constructors
from hatchling.plugin.manager import PluginManager

import coalface
from coalface import data

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_has_the_version_and_the_date_of_the_newest_entry_of_the_changelog():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(r"^## \[([^]]+)\] - (\S+)$", changelog, re.MULTILINE).groups()
    assert (citation["version"], str(citation["date-released"])) == (version, date)
    assert version == coalface.__version__


def test_every_dependency_of_users_has_an_oldest_version():
    oldest = runpy.run_path(str(ROOT / "packaging" / "oldest.py"))
    extras = PROJECT["optional-dependencies"]
    named = [*PROJECT["dependencies"], *(one for name in oldest["OF_USERS"] for one in extras[name])]
    bounded = [one for one in named if not one.startswith("coalface[")]
    assert len(oldest["oldest"](PROJECT)) == len(set(bounded))


@pytest.mark.parametrize("path", sorted(ROOT.glob(".github/**/*.yml")), ids=lambda path: path.name)
def test_workflows_and_templates_can_be_read_and_call_targets_that_exist(path):
    text = path.read_text(encoding="utf-8")
    yaml.safe_load(text)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in text.splitlines():
        if "run: make " in line:
            assert f"\n{line.split('make ')[1].strip()}:" in makefile, line


def test_an_import_loads_neither_numba_nor_matplotlib_nor_scikit_learn():
    program = (
        "import sys, coalface; print([n for n in ('numba', 'matplotlib', 'sklearn', 'scipy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_learner_that_only_learns_does_not_load_what_draws_serves_or_compares():
    program = (
        "import sys; from coalface import CoalClassifier; CoalClassifier(classes=['a', 'b']);"
        "print([n for n in ('matplotlib', 'jinja2', 'fastapi', 'sqlalchemy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_learner_does_not_load_the_readers_of_files():
    program = (
        "import sys; from coalface import CoalClassifier; CoalClassifier(classes=['a', 'b']);"
        "print([n for n in sys.modules if n.startswith(('coalface.data.formats', 'coalface.studies.known'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_name_of_the_data_package_can_be_imported_and_others_are_refused():
    for name in data.__all__:
        found = getattr(data, name)
        assert not (isclass(found) or isfunction(found)) or found.__name__ == name  # the others are constants
    assert dir(data) == sorted(data.__all__)
    with pytest.raises(AttributeError, match=r"'coalface.data' has no attribute 'read_everything'"):
        data.read_everything  # noqa: B018


@pytest.mark.parametrize("repository", ["", "https://host.example/us/coalface"])
def test_every_link_of_the_page_on_pypi_is_absolute(monkeypatch, repository):
    monkeypatch.setenv("COALFACE_REPOSITORY", repository)
    project = ProjectMetadata(str(ROOT), PluginManager())
    text = get_core_metadata_constructors()[DEFAULT_METADATA_VERSION](project)
    fields, page = text.split("\n\n", 1)
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert links
    assert all(link.startswith("https://") for link in links)
    assert "](" in (ROOT / "README.md").read_text(encoding="utf-8").replace("](https://", "")
    ours = [link for link in links if repository and link.startswith(repository)]
    assert all((ROOT / re.sub(r"^.*/(blob|raw)/HEAD/|#.*", "", link)).exists() for link in ours)
    assert len(ours) == (len(links) - 1 if repository else 0)  # the other one leads to the paper
    assert (f"Project-URL: Source, {repository}" in fields) == bool(repository)


@pytest.mark.slow
def test_the_wheel_and_the_source_distribution_pass_the_checkers(tmp_path):
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    made = subprocess.run(build, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    files = sorted(map(str, tmp_path.iterdir()))
    assert len(files) == 2
    (wheel,) = [name for name in files if name.endswith(".whl")]
    for command in (["-m", "twine", "check", "--strict", *files], ["-m", "check_wheel_contents", wheel]):
        checked = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    names = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("coalface/", f"coalface-{coalface.__version__}.dist-info/")) for name in names)
    assert "coalface/py.typed" in names
    with tarfile.open(next(name for name in files if name.endswith(".tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        left_out = {name for name in listed.stdout.splitlines() if name not in inside}
        assert all(name.startswith(("studies/", ".ci/")) for name in left_out), left_out  # results of studies: 23 MB
