"""A PostgreSQL server for tests: the one that $COALFACE_POSTGRES names, or one of our own in a temporary folder."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "COALFACE_POSTGRES"


def programs() -> Path | None:
    """Where the server's programs are; None where they are not installed."""
    on_path = shutil.which("initdb")
    folders = [*([Path(on_path).parent] if on_path else []), *Path("/usr/lib/postgresql").glob("*/bin")]
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


def reason_to_skip() -> str | None:
    """Why there is no PostgreSQL to test with."""
    if os.environ.get(VARIABLE) or programs():
        return None
    return f"PostgreSQL is not installed and {VARIABLE} is not set"


@contextmanager
def server() -> Iterator[str]:
    """The address of a server, with {} for the name of a database."""
    given = os.environ.get(VARIABLE)
    if given:
        yield given
        return
    folder = Path(tempfile.mkdtemp(prefix="cf-pg-"))
    try:
        yield _start(folder)
    finally:
        _as_owner(f"{programs()}/pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def restarting(address: str) -> Callable[[], None] | None:
    """What ends all connections and starts the server again; None if it is not ours."""
    if os.environ.get(VARIABLE):
        return None
    folder = Path(address.partition("host=")[2])
    command = (f"{programs()}/pg_ctl", "-D", str(folder / "data"), "-l", str(folder / "log"))
    return lambda: _as_owner(*command, "-m", "immediate", "-w", "restart")


def _start(folder: Path) -> str:
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")  # the server refuses to run as root
    _as_owner(f"{programs()}/initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "postgres", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
    _as_owner(
        f"{programs()}/pg_ctl", "-D", str(folder / "data"), "-l", str(folder / "log"), "-o", options, "-w", "start"
    )
    return f"postgresql://postgres@/{{}}?host={folder}"


def _as_owner(*command: str) -> None:
    who = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    subprocess.run([*who, *command], check=True, capture_output=True, cwd="/")


def fresh_database(address: str, name: str) -> str:
    """The address of a new, empty database, of this process alone."""
    import psycopg

    name = f"{name}_{os.getpid()}"  # tests in other processes may use the same server
    with psycopg.connect(address.format("postgres"), autocommit=True) as connection:
        connection.execute(f'drop database if exists "{name}" with (force)')
        connection.execute(f'create database "{name}"')
    return address.format(name)
