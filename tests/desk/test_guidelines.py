"""Guidelines come from a file and are split by label."""

import pytest
from typer.testing import CliRunner

from coalface.cli.app import app
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.rounds.label_change import LabelChange
from tests.desk.projects import small_project

TEXT = "# Mail\nThink of the customer.\n\n## Refund\nThe customer wants money.\n\n## Unknown\nStays.\n\n## other\n"


def test_a_heading_that_names_a_label_begins_its_section(tmp_path):
    guides = small_project(tmp_path / "mail", guidelines=TEXT).guides
    assert guides.general == "# Mail\nThink of the customer."
    assert guides.by_label == {"refund": "The customer wants money.\n\n## Unknown\nStays."}


def test_a_renamed_label_keeps_its_guidelines(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", guidelines=TEXT))
    desk.change_labels(LabelChange("rename", "refund", 1, new_name="money"))
    assert list(desk.project.guides.by_label) == ["money"]
    desk.close()


@pytest.mark.parametrize("text", [TEXT, 'one line with """ quotes', "a\r\nb", "\n"])
def test_guidelines_survive_the_settings_file(tmp_path, text):
    small_project(tmp_path / "mail", guidelines=text)
    assert Project.open(tmp_path / "mail").guidelines == text


def _init(tmp_path, guidelines):
    (tmp_path / "labels.txt").write_text("refund\nother\n")
    (tmp_path / "mail.jsonl").write_text('{"text": "hi"}\n')
    files = ["--examples", tmp_path / "mail.jsonl", "--labels", tmp_path / "labels.txt", "--guidelines", guidelines]
    return CliRunner().invoke(app, ["init", str(tmp_path / "mail"), *map(str, files)])


def test_init_reads_a_file(tmp_path):
    (tmp_path / "guide.md").write_text("\N{ZERO WIDTH NO-BREAK SPACE}" + TEXT, encoding="utf-8")
    assert _init(tmp_path, tmp_path / "guide.md").exit_code == 0
    assert Project.open(tmp_path / "mail").guides.general == "# Mail\nThink of the customer."


def test_a_file_that_cannot_be_read_makes_no_project(tmp_path):
    (tmp_path / "guide.md").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "guide.md", tmp_path / "missing.md", tmp_path):
        assert _init(tmp_path, path).exit_code != 0
        assert not (tmp_path / "mail").exists()


def test_init_warns_of_a_heading_that_names_no_label(tmp_path):
    (tmp_path / "guide.md").write_text("# Mail\n## Refnd\nMoney.\n## other\nThe rest.\n### Details\n## Zzz\n")
    found = _init(tmp_path, tmp_path / "guide.md")
    assert found.exit_code == 0
    first, second = found.stderr.splitlines()
    assert first.endswith('"## Refnd" is not a label: it is shown with the general text. Did you mean "## refund"?')
    assert second.endswith('"## Zzz" is not a label: it is shown with the label "other".')
