"""A ledger in a file: crashes, damage, other files and other writers."""

import json
import os
import signal
import subprocess
import sys

import pytest

from coalface.errors import FileFormatError
from coalface.rounds.ledger import JsonLinesLedger
from coalface.rounds.round import Round

HEADER = {"params": {}, "classes": ["a", "b"]}


def one(number):
    return Round(number, width=3, indices=(0, 2), values=(1.0, 0.5), ask=("a",), costs={"a": 0.25})


@pytest.fixture
def ledger(tmp_path):
    ledger = JsonLinesLedger(tmp_path / "answers.jsonl")
    ledger.begin(HEADER)
    ledger.append([one(1), one(2), one(3)])
    return ledger


def test_each_line_is_one_json_object_that_says_what_it_is(ledger):
    first, *others = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    assert first["coalface_ledger"] == 1
    assert [line["round"] for line in others] == [1, 2, 3]


def test_a_torn_last_line_is_dropped_wherever_it_was_torn(ledger):
    whole = ledger.path.read_bytes()
    last_line = whole.rindex(b"\n", 0, -1) + 1
    for length in range(last_line, len(whole)):
        ledger.path.write_bytes(whole[:length])
        torn = JsonLinesLedger(ledger.path)
        assert [seen.number for seen in torn] == [1, 2]
        assert len(torn) == 2
    torn.append([one(3), one(4)])
    assert [seen.number for seen in JsonLinesLedger(ledger.path)] == [1, 2, 3, 4]
    assert ledger.path.read_bytes().startswith(whole)


def test_a_torn_header_is_as_good_as_no_ledger(tmp_path):
    path = tmp_path / "answers.jsonl"
    JsonLinesLedger(path).begin(HEADER)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        torn = JsonLinesLedger(path)
        assert torn.header is None
        torn.begin(HEADER)
        assert path.read_bytes() == whole


@pytest.mark.parametrize("line", [1, 2])
@pytest.mark.parametrize("damage", [b"\n", b"{\n", b"3\n", b'{"round":1}\n', b"\xff\xfe\n", b"null\n"])
def test_a_damaged_line_in_the_middle_is_named(ledger, line, damage):
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    lines[line] = damage
    ledger.path.write_bytes(b"".join(lines))
    with pytest.raises(FileFormatError, match=f"line {line + 1} is damaged.*Restore the file from a copy"):
        JsonLinesLedger(ledger.path)


@pytest.mark.parametrize(
    "content",
    [b"hello\n", b"{}\n", b'{"a": 1}\n', b"[]\n", b"\x00\x01\x02\n", b'{"coalface_ledger": "x"}\n', b"a,b,c\n1,2,3\n"],
)
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"notes\.txt"):
        JsonLinesLedger(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"hello", b"{}", b'{"a": 1}', b"\x00\x01", b"COALFACE\x01"])
def test_a_foreign_file_without_a_line_end_is_not_taken_for_a_torn_ledger(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a coalface ledger"):
        JsonLinesLedger(path)
    assert path.read_bytes() == content


def test_a_ledger_from_the_future_is_refused(ledger):
    text = ledger.path.read_text().replace('"coalface_ledger":1', '"coalface_ledger":2')
    ledger.path.write_text(text)
    with pytest.raises(FileFormatError, match=r"format 2.*reads up to 1.*Upgrade"):
        JsonLinesLedger(ledger.path)


def test_two_writers_cannot_overwrite_each_other(ledger):
    other = JsonLinesLedger(ledger.path)
    other.append([one(4)])
    with pytest.raises(FileFormatError, match="changed"):
        ledger.append([one(4)])
    assert [seen.number for seen in JsonLinesLedger(ledger.path)] == [1, 2, 3, 4]


def test_what_cannot_be_written_leaves_the_file_as_it_was(ledger):
    before = ledger.path.read_bytes()
    with pytest.raises((TypeError, ValueError)):
        ledger.append([one(4), Round(5, width=3, ask=("a",), costs={"a": float("nan")})])
    assert ledger.path.read_bytes() == before
    assert len(ledger) == 3
    ledger.append([one(4)])
    assert len(JsonLinesLedger(ledger.path)) == 4


def test_a_deleted_file_is_not_silently_replaced_by_a_new_one(ledger):
    ledger.path.unlink()
    with pytest.raises((FileFormatError, OSError)):
        ledger.append([one(4)])


WRITER = """
import sys
from coalface.rounds.round import Round
from coalface.rounds.ledger import JsonLinesLedger
ledger = JsonLinesLedger(sys.argv[1])
ledger.begin({"params": {}, "classes": ["a"]})
number = 0
while True:
    rounds = [
        Round(number + i, width=300, indices=tuple(range(300)), values=(0.1,) * 300, ask=("a",), costs={"a": 0.5})
        for i in range(7)
    ]
    ledger.append(rounds)
    number += 7
    print(number, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
@pytest.mark.parametrize("lines_before", [1, 30])
def test_a_killed_writer_has_lost_nothing_it_acknowledged(tmp_path, lines_before):
    path = tmp_path / "answers.jsonl"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as program:
        acknowledged = [program.stdout.readline() for _ in range(lines_before)]
        program.send_signal(signal.SIGKILL)
        acknowledged += program.stdout.read().splitlines(keepends=True)
    count = int([line for line in acknowledged if line.endswith("\n")][-1])
    kept = [seen.number for seen in JsonLinesLedger(path)]
    assert kept == list(range(len(kept)))
    assert len(kept) >= count


def test_what_was_appended_is_on_disk_before_append_returns(ledger, monkeypatch):
    forced = []
    real = os.fsync

    def fsync(handle):
        forced.append(ledger.path.read_bytes().count(b"\n"))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    ledger.append([one(4), one(5)])
    assert forced == [6]
