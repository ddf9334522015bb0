"""Atomic writes keep old files and permissions; locks admit one process at a time."""

import errno
import os
import re
import stat
import subprocess
import sys
import threading
import time

import pytest

from coalface.errors import FileBusyError, IsFolderError
from coalface.files import atomic as locks
from coalface.files.atomic import atomic_write, exclusive

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def write(path, content):
    with atomic_write(path) as file:
        file.write(content)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


KILLED_WHILE_WRITING = """
import os, sys
from coalface.files.atomic import atomic_write
with atomic_write(sys.argv[1]) as file:
    os._exit(9)
"""


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(TypeError):
        write(tmp_path / "a", "not bytes")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def parts(folder):
    return sorted(path.name for path in folder.glob(".*.part"))


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_the_part_that_a_killed_process_left_is_removed_by_a_later_write(tmp_path):
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path / "a")], timeout=60, capture_output=True, check=False
    )
    assert killed.returncode == 9
    (part,) = tmp_path.glob(".a.*.part")
    write(tmp_path / "a", b"new")
    assert part.exists()  # too young: another process may be about to write it
    age(part, 2 * 3600)
    write(tmp_path / "a", b"newer")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"newer"}


def test_the_part_of_a_write_that_takes_hours_is_kept(tmp_path):
    with atomic_write(tmp_path / "a") as file:
        (part,) = tmp_path.glob(".a.*.part")
        age(part, 5 * 3600)
        write(tmp_path / "a", b"quick")
        file.write(b"slow")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"slow"}


def test_parts_of_other_files_are_kept(tmp_path):
    names = [".a.b.0123456789ab.part", ".b.0123456789ab.part", ".a.note.part"]
    for name in names:
        (tmp_path / name).touch()
        age(tmp_path / name, 2 * 3600)
    write(tmp_path / "a", b"new")
    assert parts(tmp_path) == sorted(names)


@posix
@pytest.mark.parametrize("kept", [0o600, 0o664, 0o444])
def test_a_file_that_is_written_again_keeps_its_permissions(tmp_path, kept):
    write(tmp_path / "a", b"old")
    (tmp_path / "a").chmod(kept)
    write(tmp_path / "a", b"new")
    assert ((tmp_path / "a").read_bytes(), mode(tmp_path / "a")) == (b"new", kept)


@posix
def test_a_private_file_is_not_open_to_others_while_it_is_written(tmp_path):
    write(tmp_path / "a", b"old")
    (tmp_path / "a").chmod(0o600)
    with atomic_write(tmp_path / "a"):
        assert {mode(path) for path in tmp_path.iterdir()} == {0o600}


@posix
def test_a_new_file_has_the_permissions_of_any_other_new_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)  # the umask belongs to the process: changing it would affect other threads
    (tmp_path / "ordinary").touch()
    write(tmp_path / "a", b"new")
    assert mode(tmp_path / "a") == mode(tmp_path / "ordinary")


@posix
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    for content in (b"first", b"second"):
        write(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there" / "file").read_bytes() == content


def test_a_missing_folder_is_named_together_with_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "lost" / "a", b"new")
    assert caught.value.filename == str(tmp_path / "lost" / "a")
    assert caught.value.strerror == f"There is no folder {tmp_path / 'lost'}"


def test_a_folder_is_not_replaced_by_a_file(tmp_path):
    with pytest.raises(IsFolderError, match=f"^{re.escape(str(tmp_path))} is a folder. Add the name of a file in it.$"):
        write(tmp_path, b"new")


def test_an_error_names_the_file_and_not_its_temporary_part(tmp_path, monkeypatch):
    def refuse(path, *_):
        raise OSError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError) as caught:
        write(tmp_path / "a", b"new")
    assert caught.value.filename == str(tmp_path / "a")


# -- locks ---------------------------------------------------------------------------------------------------------

HOLD = """
import sys
from coalface.files.atomic import exclusive
with exclusive(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_file_held_by_another_process_is_busy_until_that_one_ends(tmp_path):
    path = tmp_path / "m.coal"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(FileBusyError, match=r"m\.coal must be changed by one process at a time"),
            exclusive(path, 0),
        ):
            pass
        holder.kill()
    with exclusive(path, patience=0):
        assert path.with_name(".m.coal.lock").exists()


def test_a_lock_admits_one_at_a_time_and_leaves_no_file(tmp_path):
    inside, most = [], []

    def enter(number):
        for _ in range(20):
            with exclusive(tmp_path / "a"):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    threads = [threading.Thread(target=enter, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 60
    assert not (os.name == "posix" and list(tmp_path.iterdir()))


@posix
def test_a_link_and_its_target_share_one_lock(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with exclusive(tmp_path / "file"), pytest.raises(FileBusyError), exclusive(tmp_path / "link", patience=0):
        pass


@posix
def test_a_folder_without_locks_gives_a_warning_and_work_continues(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", refuse)
    with pytest.warns(UserWarning, match="does not support locks"), exclusive(tmp_path / "a"):
        pass
