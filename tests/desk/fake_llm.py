"""A fake LLM endpoint on the loopback interface: it answers by a rule, misbehaves on demand, and keeps a ledger."""

import json
import re
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-very-secret-0123456789"


def asked_labels(request):
    """The labels that a request asks about, from the instruction."""
    found = re.search(r'\{"costs": \{(.*?)\}\}', request["messages"][0]["content"])
    return re.findall(r'"([^"]+)": \.\.\.', found[1]) if found else []


def example_in(request):
    return request["messages"][1]["content"].split("==========")[1].strip()


def honest(request):
    """Costs that follow from the words of the example, for the labels of ``small_project``."""
    text = example_in(request)
    right = "refund" if "money" in text or "refund" in text else "delivery" if "parcel" in text else "other"
    return json.dumps({"costs": {label: 0.0 if label == right else 0.5 for label in asked_labels(request)}})


def always_honest(request, n):
    return honest(request)


def always(what):
    """The same behaviour for every request."""
    return lambda *_: what


class FakeLlm:
    """``behave(request, n)`` gives what happens to the n-th request, counted from 0: a text, or a function of the
    handler for anything else. Every completed reply is charged for in ``ledger`` before it is sent."""

    def __init__(self, behave=None):
        self.behave = behave or always_honest
        self.requests, self.ledger, self.headers = [], [], []
        self._lock = threading.Lock()
        self.slow = threading.Event()  # set at the end, so that nothing sleeps on

    def charge(self, request, text):
        said = {"tokens_in": len(json.dumps(request["messages"])) // 4, "tokens_out": max(len(text) // 4, 1)}
        with self._lock:
            said |= {"id": f"reply-{len(self.ledger)}", "request": json.dumps(request["messages"])}
            self.ledger.append(said)
        return said

    def completion(self, request, text="", finish="stop", **message):
        said = self.charge(request, text)
        usage = {"prompt_tokens": said["tokens_in"], "completion_tokens": said["tokens_out"]}
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        return json.dumps({"id": said["id"], "choices": [choice], "usage": usage}).encode()

    def price(self, price_in, price_out):
        return sum(price_in * said["tokens_in"] + price_out * said["tokens_out"] for said in self.ledger) / 1e6


# -- ways to behave: each takes the server, the handler and the request ---------------------------------


def status(code, body=b'{"error": "busy"}', **headers):
    def act(fake, handler, request):
        send(handler, body, code, headers)

    return act


def refusing(fake, handler, request):
    send(handler, fake.completion(request, refusal="I cannot help with that."))


def cut_off(fake, handler, request):
    send(handler, fake.completion(request, '{"costs": {', finish="length"))


def too_slow(fake, handler, request):
    body = fake.completion(request, honest(request))
    fake.slow.wait(30.0)
    send(handler, body)


def half_way(fake, handler, request):
    body = fake.completion(request, honest(request))
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.close_connection = True


def not_json(fake, handler, request):
    fake.charge(request, "")
    send(handler, b"<html>Welcome</html>")


def without_usage(fake, handler, request):
    body = json.loads(fake.completion(request, honest(request)))
    del body["usage"]
    send(handler, json.dumps(body).encode())


def send(handler, body, code=200, headers=None):
    handler.send_response(code)
    for name, value in (headers or {}).items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def fake_llm(behave=None, delay=0.0):
    """A running server; yields the ``FakeLlm`` with its ``url``."""
    fake = FakeLlm(behave)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with fake._lock:
                n = len(fake.requests)
                fake.requests.append(request)
                fake.headers.append(dict(self.headers))
            if delay:
                time.sleep(delay)
            found = fake.behave(request, n)
            try:
                if callable(found):
                    found(fake, self, request)
                else:
                    send(self, fake.completion(request, found))
            except OSError:
                pass  # the caller is gone

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        fake.slow.set()
        server.shutdown()
        thread.join()
        server.server_close()
