"""Archives from elsewhere: bounded, and checked before anything is written."""

import json
import stat
import zipfile

import pytest
import sqlalchemy as sa

from coalface.desk.service import archive as archives
from coalface.desk.service.archive import ArchiveLimits, read_archive, write_archive
from coalface.desk.service.desk import Desk
from coalface.errors import CoalfaceError, FileFormatError, InputError
from tests.cli.commands import run
from tests.desk.projects import small_project, work
from tests.rounds import postgres


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    desk = Desk(small_project(folder / "mail", n=20))
    work(desk, n=3)
    desk.lease("bob")
    write_archive(desk.project, desk.store, folder / "mail.zip")
    desk.close()
    with zipfile.ZipFile(folder / "mail.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path, members, compression=zipfile.ZIP_DEFLATED, again=()):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name in (*members, *again):
            archive.writestr(name, members[name])
    return path


def refused(path, tmp_path, **settings):
    with pytest.raises(CoalfaceError) as caught:
        read_archive(path, tmp_path / "copy", **settings)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "copy").exists()
    assert not list(tmp_path.glob(".copy*"))
    return str(caught.value)


def with_lines(exported, name, change):
    lines = [json.loads(line) for line in exported[name].splitlines()]
    return exported | {name: "".join(json.dumps(line) + "\n" for line in change(lines)).encode()}


def test_an_archive_that_unpacks_to_too_much_is_refused_before_a_byte_is_written(exported, tmp_path, monkeypatch):
    bomb = packed(tmp_path / "bomb.zip", exported | {"pool/values.bin": bytes(50 << 20)})
    assert bomb.stat().st_size < 1 << 20
    written = []
    monkeypatch.setattr(archives.shutil, "copyfileobj", lambda *_: written.append(1))
    assert "must unpack to at most 1,000,000 bytes" in refused(bomb, tmp_path, limits=ArchiveLimits(bytes=1_000_000))
    assert "must have at most 3 files" in refused(bomb, tmp_path, limits=ArchiveLimits(members=3))
    monkeypatch.setattr(archives.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1 << 20}))
    assert "1,048,576 are free" in refused(bomb, tmp_path)
    assert written == []


def test_the_command_line_has_the_limit(exported, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    packed(tmp_path / "mail.zip", exported)
    code, _, err = run(capsys, "import mail.zip copy --most-bytes 1000")
    assert (code, "at most 1,000 bytes" in err) == (2, True)
    assert run(capsys, "import mail.zip copy")[0] == 0


def test_a_file_twice_or_in_another_packing_is_refused(exported, tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = packed(tmp_path / "twice.zip", exported, again=["labels.txt"])
    assert "each file once" in refused(path, tmp_path)
    assert "unknown form" in refused(packed(tmp_path / "lzma.zip", exported, zipfile.ZIP_LZMA), tmp_path)


def test_a_label_that_arrays_would_cut_short_is_refused(exported, tmp_path):
    path = packed(tmp_path / "x.zip", exported | {"labels.txt": exported["labels.txt"] + b"\0\0\n"})
    assert "character of number 0" in refused(path, tmp_path)


def test_an_endless_line_does_not_fill_the_memory(exported, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_LONGEST_LINE", 4000)
    path = packed(tmp_path / "x.zip", exported | {"events.jsonl": b'{"kind": "' + b"x" * 10_000})
    assert "at most 4,000 bytes" in refused(path, tmp_path)


@pytest.mark.parametrize("place", ["kind", "at", "who", "id", "example", "body"])
def test_an_event_with_a_wrong_value_is_refused(exported, tmp_path, place):
    def change(lines):
        lines[-1][place] = [1]
        return lines

    path = packed(tmp_path / "x.zip", with_lines(exported, "events.jsonl", change))
    assert f"wrong {place}" in refused(path, tmp_path)


def answered(lines):
    return next(line for line in lines if line["kind"] == "answered")


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: answered(lines)["body"].update(asked="refund"),
        lambda lines: answered(lines)["body"].pop("step"),
        lambda lines: answered(lines)["body"]["costs"].update(refund="much"),
        lambda lines: lines[-1].update(at=float("nan")),
        lambda lines: lines[-1].update(who="\ud800"),
        lambda lines: lines[-1].update(body=json.loads("[" * 500 + "]" * 500)),
        lambda lines: lines.append(lines[0]),
    ],
    ids=["no list", "no step", "no number", "no time", "half a letter", "nested", "twice"],
)
def test_what_the_desk_would_stumble_over_later_is_refused_now(exported, tmp_path, damage):
    def change(lines):
        damage(lines)
        return lines

    assert refused(packed(tmp_path / "x.zip", with_lines(exported, "events.jsonl", change)), tmp_path)


def test_a_label_that_the_project_lacks_is_refused(exported, tmp_path):
    def change(lines):
        closed = next(line for line in lines if line["kind"] == "closed")
        closed["body"] = json.loads(json.dumps(closed["body"]).replace("refund", "nothing"))
        return lines

    assert "label" in refused(packed(tmp_path / "x.zip", with_lines(exported, "events.jsonl", change)), tmp_path)


@pytest.mark.parametrize("name", ["order", "columns", "indptr", "starts", "id_places", "id_hashes", "values"])
def test_a_pool_whose_arrays_point_elsewhere_is_refused(exported, tmp_path, name):
    numbers = bytearray(exported[f"pool/{name}.bin"])
    numbers[:8] = b"\xff\xff\xff\x7f\xff\xff\xff\x7f" if name != "values" else b"\0\0\xc0\x7f" * 2
    said = refused(packed(tmp_path / "x.zip", exported | {f"pool/{name}.bin": bytes(numbers)}), tmp_path)
    assert "pool" in said


def test_half_a_character_in_a_text_is_refused(exported, tmp_path):
    (name,) = (name for name in exported if name.startswith("pool/") and name.endswith(".jsonl"))
    start = exported[name].index(b'"text": "') + 9
    half = exported[name][:start] + rb"\ud800" + exported[name][start + 6 :]  # as many bytes as before
    text = refused(packed(tmp_path / "half.zip", exported | {name: half}), tmp_path)
    assert "must be text of whole characters" in text


def test_a_database_elsewhere_stays_empty_if_the_archive_is_refused(exported, tmp_path, postgres_server):
    url = postgres.fresh_database(postgres_server, "refused")

    def change(lines):
        del answered(lines)["body"]["costs"]
        return lines

    path = packed(tmp_path / "x.zip", with_lines(exported, "events.jsonl", change))
    refused(path, tmp_path, database=url)
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    assert sa.inspect(engine).get_table_names() == []
    engine.dispose()
    read_archive(packed(tmp_path / "y.zip", exported), tmp_path / "copy", url)


def test_files_with_answers_are_for_their_owner(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    desk = Desk(small_project(tmp_path / "mail", n=20))
    work(desk, n=3)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "mail").glob("project.db*")}
    desk.close()
    modes |= {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "mail").glob("snapshot-*")}
    for name in ("mail.jsonl", "mail.csv", "mail.vw", "mail.coalface", "mail.zip"):
        assert run(capsys, f"export mail {name}")[0] == 0
        modes[name] = stat.S_IMODE((tmp_path / name).stat().st_mode)
    assert len(modes) >= 8
    assert set(modes.values()) == {0o600}


def test_no_archive_at_all_is_one_line(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises((FileFormatError, InputError)):
        read_archive(tmp_path / "x.zip", tmp_path / "copy")
