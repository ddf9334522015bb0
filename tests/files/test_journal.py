"""The mark of a journal's format, which a later kind of line raises."""

import os

import pytest

from coalface.errors import FileFormatError
from coalface.files.journal import Journal


@pytest.fixture
def journal(tmp_path):
    made = Journal(tmp_path / "notes.jsonl", "notes", 2, first=1)
    made.begin({"title": "mine"})
    made.append([{"note": "a"}])
    return made


def test_a_raised_version_keeps_every_line_and_earlier_readers_refuse_the_file(journal):
    journal.raise_version(2)
    journal.append([{"note": "b"}])
    again = Journal(journal.path, "notes", 2)
    assert (again.header, [line["note"] for _, line in again]) == ({"title": "mine"}, ["a", "b"])
    with pytest.raises(FileFormatError, match="version"):
        Journal(journal.path, "notes", 1)


@pytest.mark.parametrize("version", [0, 1])
def test_a_version_that_the_file_has_already_writes_nothing(journal, version):
    os.utime(journal.path, ns=(0, 0))
    journal.raise_version(version)
    assert journal.path.stat().st_mtime_ns == 0


def test_a_header_of_another_form_is_left_alone(journal):
    changed = journal.path.read_text().replace('{"coalface_notes":1', '{ "coalface_notes":1')
    journal.path.write_text(changed)
    with pytest.raises(FileFormatError, match="header of an unknown form"):
        journal.raise_version(2)
    assert journal.path.read_text() == changed


def test_a_damaged_header_is_line_1(journal):
    journal.path.write_text("{\n")
    with pytest.raises(FileFormatError, match="line 1 is damaged"):
        Journal(journal.path, "notes", 2)
