"""Clients that are slow, many, or call the service by another name."""

import contextlib
import socket
import threading
import time
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest
import uvicorn

from coalface.desk.web.service import service_of
from coalface.web.connections import ConnectionBook, GuardedServer
from tests.desk.desks import open_desk
from tests.desk.serving import client_of, give_tokens


@contextlib.contextmanager
def guarded_service(folder, book, **limits):
    """Serve a desk with these limits on connections; yields the address."""
    with open_desk(folder) as desk:
        give_tokens(desk.store)
        app = service_of(desk, **limits)
        app.state.connections = book
        patience = 60  # a busy machine may need longer than the 5 seconds of uvicorn
        server = GuardedServer(app, book, port=0, log_level="critical", lifespan="on", timeout_keep_alive=patience)
        with socket.create_server(("127.0.0.1", 0)) as own:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
            thread.start()
            try:
                while not server.started:
                    time.sleep(0.01)
                yield f"http://127.0.0.1:{own.getsockname()[1]}"
            finally:
                server.should_exit = True
                thread.join()


HEAD = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"


@contextlib.contextmanager
def half_open(address, n, sent=HEAD):
    """Connections that have sent the beginning of a request; closed at the end."""
    place = urlsplit(address)
    with contextlib.ExitStack() as opened:
        found = []
        for _ in range(n):
            found.append(opened.enter_context(socket.create_connection((place.hostname, place.port), timeout=60)))
            found[-1].sendall(sent)
        yield found


def reply(connection):
    """The status and the body of the next reply, in however many pieces it comes."""
    with HTTPResponse(connection) as response:
        response.begin()
        return response.status, response.read()


def is_closed(connection):
    """Whether the server ends the connection, after the rest of what it sends."""
    try:
        while connection.recv(1000):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_half_open_connections_do_not_shut_others_out(tmp_path):
    book = ConnectionBook(most=60, per_address=40, head_seconds=60.0)
    with guarded_service(tmp_path, book) as address, half_open(address, 1, HEAD + b"\r\n") as (known,):
        assert reply(known)[0] == 200
        with half_open(address, 100) as idle:
            with client_of(address) as other:
                assert other.get("/healthz").status_code == 200
            known.sendall(HEAD + b"\r\n")
            assert reply(known)[0] == 200  # it has waited longest, but it has sent a request before
            known.close()
            assert len(book) <= 40
            assert book.evicted >= 60
            assert is_closed(idle[0])


@pytest.mark.slow
def test_920_half_open_connections_do_not_shut_others_out(tmp_path):
    with (
        guarded_service(tmp_path, ConnectionBook()) as address,
        half_open(address, 920),
        client_of(address, "ann") as ann,
    ):
        assert ann.get("/api/v1/projects/tickets/progress").status_code == 200


def test_a_request_that_arrives_in_pieces_is_answered_though_others_need_room(tmp_path):
    book = ConnectionBook(per_address=2, head_seconds=60.0, head_grace=60.0)
    with guarded_service(tmp_path, book) as address, half_open(address, 2, HEAD + b"\r\n") as (slow, idle):
        assert (reply(slow)[0], reply(idle)[0]) == (200, 200)
        slow.sendall(HEAD)
        idle.sendall(HEAD + b"\r\n")
        assert reply(idle)[0] == 200  # so the other one has waited longer
        with half_open(address, 1):
            assert is_closed(idle)
            slow.sendall(b"\r\n")
            assert reply(slow)[0] == 200


def test_a_crowd_of_new_connections_does_not_cut_off_a_request_that_has_come(tmp_path):
    """The server reads what has come before it takes in many more connections."""
    book = ConnectionBook(per_address=60, head_seconds=60.0)
    with guarded_service(tmp_path, book) as address, half_open(address, 1, HEAD + b"\r\n") as (known,):
        assert reply(known)[0] == 200
        (connection,), crowd_is_here = book.connections, threading.Event()
        connection.loop.call_soon_threadsafe(crowd_is_here.wait)  # the server takes in nothing meanwhile
        with contextlib.ExitStack() as crowd:
            crowd.callback(crowd_is_here.set)
            crowd.enter_context(half_open(address, 100))
            (own,) = crowd.enter_context(half_open(address, 1, HEAD + b"\r\n"))
            crowd.enter_context(half_open(address, 100))
            crowd_is_here.set()
            assert reply(own)[0] == 200
        known.sendall(HEAD + b"\r\n")
        assert reply(known)[0] == 200


@pytest.mark.parametrize("sent", [b"", b"GET /heal", b"POST /login HTTP/1.1\r\nhost: x\r\n"])
def test_a_head_that_does_not_come_ends_the_connection(tmp_path, sent):
    book = ConnectionBook(head_seconds=0.3)
    with guarded_service(tmp_path, book) as address, half_open(address, 1, sent) as (slow,):
        assert is_closed(slow)


def test_the_next_request_on_a_connection_has_the_same_limit(tmp_path):
    book = ConnectionBook(head_seconds=2.0)
    with guarded_service(tmp_path, book) as address, half_open(address, 1, HEAD + b"\r\n") as (slow,):
        assert reply(slow)[0] == 200
        slow.sendall(b"GET /hea")
        assert is_closed(slow)


def test_a_body_that_trickles_is_refused(tmp_path):
    sent = b"POST /login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded\r\n"
    sent += b"content-length: 100\r\n\r\ntoken="
    service = guarded_service(tmp_path, ConnectionBook(), body_seconds=0.3)
    with service as address, half_open(address, 1, sent) as (slow,):
        assert reply(slow)[0] == 408
        slow.sendall(b"x")
        assert is_closed(slow)


def test_an_address_is_counted_by_its_own_connections(tmp_path):
    book = ConnectionBook(most=10, per_address=10)
    with guarded_service(tmp_path, book) as address, client_of(address) as one, client_of(address) as two:
        for _ in range(3):
            assert (one.get("/healthz").status_code, two.get("/healthz").status_code) == (200, 200)
        assert len(book) == 2


def test_other_host_names_are_refused(tmp_path):
    names = {"127.0.0.1", "mail.example"}
    with guarded_service(tmp_path, ConnectionBook(), host_names=names) as address, client_of(address, "ann") as ann:
        path = "/api/v1/projects/tickets/progress"
        assert ann.get(path).status_code == 200
        assert ann.get(path, headers={"host": "Mail.example:8137"}).status_code == 200
        for host in ("evil.example", "127.0.0.1.evil.example", "10.0.0.5", ""):
            refused = ann.get(path, headers={"host": host})
            assert refused.status_code in (400, 421)
        assert "--host-name evil.example" in ann.get(path, headers={"host": "evil.example"}).json()["detail"]


def test_a_proxy_does_not_disarm_the_limit_of_wrong_tokens(tmp_path):
    with open_desk(tmp_path) as desk:
        give_tokens(desk.store)
        config = uvicorn.Config(
            service_of(desk),
            port=0,
            log_level="critical",
            ws="none",
            proxy_headers=True,
            forwarded_allow_ips="127.0.0.1",
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
            with client_of(address) as client, client_of(address, "ann") as ann:
                statuses = [
                    client.get(
                        "/api/v1/projects",
                        headers={"authorization": f"Bearer coal_{i}", "x-forwarded-for": f"10.1.{i // 250}.{i % 250}"},
                    ).status_code
                    for i in range(140)
                ]
                assert statuses[0] == 401
                assert statuses[-1] == 429  # each forged address had a limit of its own
                assert ann.get("/api/v1/projects").status_code == 200  # a right token always enters
        finally:
            server.should_exit = True
            thread.join()
