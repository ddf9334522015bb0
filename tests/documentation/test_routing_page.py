"""The requests of the page on routing, sent with curl there, get the replies that it shows."""

import re
import shlex
from itertools import pairwise

from fastapi.testclient import TestClient

from coalface.cli import main
from coalface.routing.desk import RoutingDesk
from coalface.routing.router import Router
from coalface.routing.web import routing_service
from tests.documentation.blocks import items
from tests.documentation.running import same
from tests.documentation.surroundings import FILES

PAGE, TOKEN = "routing.md", "a token of the tests"
ID = re.compile(r"\d+-[0-9a-f]{16}")
TRAIN = "route train outcomes.csv --model models.router --value-of-quality 0.05"


def sent(client, command):
    """The reply to a curl command."""
    words = shlex.split(command.replace("\\\n", " ").replace("$COALFACE_ROUTE_TOKEN", TOKEN))
    options = dict(zip(words[2::2], words[3::2], strict=True))
    name, _, value = options["-H"].partition(": ")
    body = options.get("-d")
    path = words[1].removeprefix("http://127.0.0.1:8138")
    headers = {"Authorization": f"Bearer {TOKEN}", name: value}
    return client.request("GET" if body is None else "POST", path, content=body, headers=headers)


def without_spaces(text):
    return re.sub(r"\s+", "", text)


def test_curl_gets_the_replies_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FILES[PAGE]()
    assert main(TRAIN.split()) == 0
    desk, blocks = RoutingDesk(Router.load("models.router"), tmp_path / "journal"), items(PAGE)
    pairs = [(one.text, after.text) for one, after in pairwise(blocks) if "curl " in one.text]
    shown_id, real_id = ID.search(pairs[0][1])[0], None
    with TestClient(routing_service(desk, TOKEN)) as client:
        for command, reply in pairs:
            answer = sent(client, command.replace(shown_id, real_id or ""))
            real_id = real_id or answer.json()["decision"]
            printed = answer.text.replace(real_id, shown_id)
            assert answer.status_code == 200
            assert same(without_spaces(reply), without_spaces(printed)), printed
    assert len(pairs) == 3
