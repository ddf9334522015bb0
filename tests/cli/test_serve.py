"""``coalface serve``: tokens, and who is let in."""

import signal
import subprocess
import sys
import threading
from contextlib import closing

import httpx
import pytest

from coalface.desk.log.access import digest_of
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.web import service
from coalface.web import server
from tests.cli.commands import refused, run


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = [{"text": "money back"}, {"text": "where is it"}]
    return Project.create("mail", examples, ["delivery", "refund"])


def people(project):
    store = project.open_store()
    try:
        return [(name, role) for name, role, *_ in store.tokens()]
    finally:
        store.close()


def test_a_token_is_printed_once_and_kept_as_a_digest(project, capsys):
    code, out, _ = run(capsys, "serve mail --new-token ada --role engineer")
    store = project.open_store()
    assert (code, store.role_of(digest_of(out.strip()))) == (0, ("ada", "engineer"))
    store.close()
    assert out.strip().encode() not in b"".join(path.read_bytes() for path in project.folder.glob("project.db*"))


def test_a_removed_person_has_no_token(project, capsys):
    run(capsys, "serve mail --new-token ada")
    assert run(capsys, "serve mail --remove-token ada")[0] == 0
    assert people(project) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("serve mail", "has no tokens"),
        ("serve nothing", "not a project"),
        ("serve mail --new-token ada --role king", "annotator, reviewer or engineer"),
        ("serve mail --remove-token ada", "no token for 'ada'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(project, capsys, command, said):
    assert said in refused(capsys, command)


def test_webhooks_need_a_secret(project, capsys, monkeypatch):
    run(capsys, "serve mail --new-token ada")
    monkeypatch.delenv("COALFACE_WEBHOOK_SECRET", raising=False)
    code, _, err = run(capsys, "serve mail --webhook https://hooks.example")
    assert (code, "webhook secret" in err) == (2, True)


def wait_for_timers():
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()


def test_it_is_said_when_the_compiler_takes_its_time(project, capsys, monkeypatch):
    run(capsys, "serve mail --new-token ada")
    monkeypatch.setattr(server, "_PATIENCE", 0.0)
    monkeypatch.setattr(service, "warm_up", lambda _: wait_for_timers())
    code, _, err = run(capsys, "serve mail --webhook ftp://nowhere")  # refused, once that is done
    assert (code, "Starting; the first start on a machine compiles" in err) == (2, True)


def test_a_second_one_is_refused_before_it_gets_ready(project, capsys, monkeypatch):
    run(capsys, "serve mail --new-token ada")
    readied = []
    monkeypatch.setattr(service, "warm_up", readied.append)
    with closing(Desk(project)):
        for command in ("serve mail", "label mail --annotator json:loads"):
            said = "is already open in another process, a service or coalface label. Stop that one first"
            assert said in refused(capsys, command)
            assert readied == []


@pytest.mark.parametrize(("trusted", "end"), [(False, signal.SIGTERM), (True, signal.SIGINT)])
def test_it_listens_on_loopback_and_ends_quietly_when_told(project, capsys, trusted, end):
    token = run(capsys, "serve mail --new-token ada")[1].strip()
    command = [sys.executable, "-m", "coalface", "serve", "mail", "--port", "0", *["--proxy", "127.0.0.1"] * trusted]
    command += ["--log-level", "warning"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split()[3]
            assert address.startswith("http://127.0.0.1:")
            headers = {"authorization": f"Bearer {token}"}
            transport = httpx.HTTPTransport(retries=5)
            with httpx.Client(transport=transport, trust_env=False, timeout=300.0) as client:
                assert client.get(f"{address}/api/v1/projects", headers=headers).json()[0]["name"] == "mail"
                client.post(
                    f"{address}/api/v1/projects/mail/queries:lease", json={}, headers=headers
                ).raise_for_status()
                login = client.post(f"{address}/login", data={"token": token}, headers={"x-forwarded-proto": "https"})
                assert ("Secure" in login.headers["set-cookie"]) == trusted
        finally:
            process.send_signal(end)
        assert process.wait(120) == 0
        said = [line for line in process.stderr.read().splitlines() if not line.startswith("Starting; ")]
        assert said == []
    assert list(project.folder.glob("snapshot-*"))
