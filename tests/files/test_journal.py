"""The header of a journal."""

import pytest

from coalface.errors import FileFormatError
from coalface.files.journal import Journal


@pytest.fixture
def journal(tmp_path):
    made = Journal(tmp_path / "notes.jsonl", "notes", 1)
    made.begin({"title": "mine"})
    made.append([{"note": "a"}])
    return made


def test_a_journal_of_a_newer_format_is_refused(journal):
    journal.path.write_text(journal.path.read_text().replace('"coalface_notes":1', '"coalface_notes":2'))
    with pytest.raises(FileFormatError, match=r"format 2.*reads up to 1.*Upgrade"):
        Journal(journal.path, "notes", 1)


def test_a_damaged_header_is_line_1(journal):
    journal.path.write_text("{\n")
    with pytest.raises(FileFormatError, match="line 1 is damaged"):
        Journal(journal.path, "notes", 1)
