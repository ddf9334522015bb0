"""The journal of a sweep: nothing acknowledged is lost, nothing counts twice."""

import errno
import json

import pytest

from coalface.errors import FileFormatError, InputError
from coalface.studies.collect_results import collect_results
from coalface.studies.findings import DataFacts
from coalface.studies.results import FILE, Results, Session

FACTS = DataFacts("iris", 100, 50, 3, 4, 4.0, 1.0, "abc", "")
SESSION = Session("2026-01-01", "threads", 2, "mine", "[lines.coal]", {"coal": "1"}, (FACTS,), {"coalface": "0"})


def test_what_was_added_is_there_on_opening_again(tmp_path):
    results = Results.begin(tmp_path)
    results.start(SESSION)
    results.add([{"key": "a", "curve": {"x": 1}}, {"key": "b", "error": "no luck"}])
    results.end(seconds=1.5, cells=1)
    again = Results(tmp_path)
    assert again.finished == {"a": {"key": "a", "curve": {"x": 1}}}
    assert again.failed == {"b": "no luck"}
    assert again.sessions == results.sessions
    assert (again.sessions[0].seconds, again.sessions[0].data) == (1.5, (FACTS,))


def test_a_finished_cell_is_kept_once_and_a_failed_one_may_succeed_later(tmp_path):
    results = Results.begin(tmp_path)
    results.add([{"key": "a", "error": "no luck"}])
    results.add([{"key": "a", "curve": {"x": 1}}])
    results.add([{"key": "a", "curve": {"x": 2}}, {"key": "a", "error": "late"}])
    again = Results(tmp_path)
    assert again.finished["a"]["curve"] == {"x": 1}
    assert again.failed == {}
    assert len((tmp_path / FILE).read_text().splitlines()) == 3


@pytest.mark.parametrize("torn", [1, 7, 19])
def test_a_line_torn_by_a_crash_is_dropped_and_written_over(tmp_path, torn):
    results = Results.begin(tmp_path)
    results.add([{"key": "a", "curve": {}}, {"key": "b", "curve": {}}])
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[:-torn])
    again = Results(tmp_path)
    assert list(again.finished) == ["a"]
    again.add([{"key": "b", "curve": {}}])
    assert (tmp_path / FILE).read_bytes() == whole


@pytest.mark.parametrize("line", ['{"key": "x"}', "[1]", '{"ended": {}}', '{"session": {"data": 3}}', "{"])
def test_damage_in_the_middle_is_an_error_with_its_line(tmp_path, line):
    results = Results.begin(tmp_path)
    with (tmp_path / FILE).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(FileFormatError, match=r"results\.jsonl, line 2 is damaged"):
        Results(tmp_path)
    assert results.finished == {}


def test_a_foreign_file_is_not_written_to(tmp_path):
    (tmp_path / FILE).write_text("my notes\n")
    with pytest.raises(FileFormatError):
        Results.begin(tmp_path)
    assert (tmp_path / FILE).read_text() == "my notes\n"


def test_a_folder_without_results_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="has no finished run yet"):
        collect_results(Results.begin(tmp_path))


def test_a_full_disk_loses_nothing_and_is_one_line(tmp_path, monkeypatch):
    results = Results.begin(tmp_path)
    results.add([{"key": "a", "curve": {}}])
    whole = (tmp_path / FILE).read_bytes()

    def full(file, content):
        file.write(content[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("coalface.files.journal._write_all", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        results.add([{"key": "b", "curve": {}}])
    assert caught.value.filename == str(tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes() == whole
    monkeypatch.undo()
    results.add([{"key": "b", "curve": {}}])
    assert list(Results(tmp_path).finished) == ["a", "b"]


def test_records_are_plain_json(tmp_path):
    results = Results.begin(tmp_path)
    results.add([{"key": "a", "curve": {"test_cost": [0.1, None]}}])
    line = (tmp_path / FILE).read_text().splitlines()[1]
    assert json.loads(line) == {"key": "a", "curve": {"test_cost": [0.1, None]}}
