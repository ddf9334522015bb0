"""A service that listens on a port, in its own thread, and clients with tokens."""

import threading
import time
from contextlib import contextmanager

import httpx
import uvicorn

from coalface.desk.web.service import service_of

TOKENS = {"ann": "annotator", "bob": "annotator", "eve": "engineer"}


def give_tokens(store):
    """Add the tokens: coal_ and the person's name."""
    for name, role in TOKENS.items():
        store.add_token(name, role, f"coal_{name}")


@contextmanager
def served(desk, messenger=None, **limits):
    """Serve a desk, or a list of them; yields the address."""
    for one in desk if isinstance(desk, list) else [desk]:
        give_tokens(one.store)
    app = service_of(desk, messenger, **limits)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", ws="none", lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def client_of(address, name=None):
    """An HTTP client with the token of this person."""
    headers = {"authorization": f"Bearer coal_{name}"} if name else {}
    patience = 300.0  # the first request may have to wait for the compiler
    return httpx.Client(base_url=address, headers=headers, timeout=patience, trust_env=False)
