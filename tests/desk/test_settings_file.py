"""A settings file is plain TOML, and what a person wrote into it survives when the program rewrites it."""

import math
import tomllib
import zipfile

import numpy as np
import pytest

from coalface.desk.project.project import Project
from coalface.desk.project.settings_file import changed_text, settings_text
from coalface.desk.service.archive import read_archive, write_archive
from coalface.desk.service.desk import Desk
from tests.desk.projects import small_project

EDITED = """\
# Ask Ada before you change this.
title = "Mail"  # shown on every page

# postgresql://ada:secret@old-host/mail
[budget]  # agreed in March
costs = 300
"""


@pytest.fixture
def edited(tmp_path):
    """A project with a settings file that a person wrote."""
    project = small_project(tmp_path / "mail", n=20)
    (project.folder / "project.toml").write_text(EDITED)
    return project


def lines_kept(folder):
    text = (folder / "project.toml").read_text()
    return [line for line in EDITED.splitlines() if line in text.splitlines()]


def test_comments_survive_export_and_import_but_not_addresses(edited, tmp_path):
    (edited.folder / "project.toml").write_text(f'id = "{edited.id}"\n{EDITED}')
    project = Project.open(edited.folder)
    desk = Desk(project)
    write_archive(project, desk.store, tmp_path / "mail.zip")
    desk.close()
    with zipfile.ZipFile(tmp_path / "mail.zip") as archive:
        assert "secret" not in archive.read("project.toml").decode()
    copy = read_archive(tmp_path / "mail.zip", tmp_path / "copy")
    assert lines_kept(copy.folder) == [line for line in EDITED.splitlines() if "secret" not in line]
    assert (copy.title, copy.limits.costs, copy.id != project.id) == ("Mail", 300.0, True)


def test_comments_survive_when_a_project_gets_its_id(edited):
    found = Project.open(edited.folder)
    assert lines_kept(edited.folder) == EDITED.splitlines()
    assert Project.open(edited.folder).id == found.id


def test_values_come_back_as_they_were(tmp_path):
    settings = {
        "text": 'quotes " and \\ and \n and \t and \x00 and \x7f and \x1f and Grüße 😀',
        "numbers": [1, -2.5, 1e-9, 1e300, True],
        "two words": np.float32(0.25),
        "empty": [],
        "scale": {"levels": [{"name": "right", "cost": 0.0}, {"name": "a = [b]", "cost": np.int64(3)}], "x.y": "z"},
        "budget": {},
        "learner": {"rule": {"slack": math.inf}},
    }
    text = settings_text(settings)
    found = tomllib.loads(text)
    assert found == settings
    assert tomllib.loads(changed_text(text, {"id": "a1", "text": "b"})) == {**settings, "id": "a1", "text": "b"}
    assert tomllib.loads(changed_text(text, {"text": None})) == {
        name: value for name, value in settings.items() if name != "text"
    }
