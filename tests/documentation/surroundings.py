"""The files that a page expects, smaller numbers for speed, and what a page leaves behind."""

import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard
from fastapi.testclient import TestClient
from pyarrow import parquet

from coalface.studies import Study
from tests.documentation.blocks import PAGES, ROOT, items
from tests.pages import assert_needs_nothing_else

# The sweep of the commands has a folder of its own, so that the one in Python has something left to do.
CHANGES = {
    "studies.md": {
        "permutations = 20": "permutations = 2",
        "--out results": "--out by_command",
        "report results": "report by_command",
    },
}
NUMBERS_VARY = {"labelling.md": "eight workers answer at the same time"}  # in what the commands print


def changed(page: str, text: str) -> str:
    """A text of a page with smaller numbers."""
    for old, new in CHANGES.get(page, {}).items():
        text = text.replace(old, new)
    return text


def _write_tickets() -> None:
    runpy.run_path(str(ROOT / "examples" / "tickets" / "make.py"), run_name="__main__")


def _write_calls() -> None:
    for name, rows in (("calls.csv", 30), ("test-calls.csv", 12)):
        lines = [f"{i % 5},{i % 3},{('refund', 'billing', 'other')[i % 3]}\n" for i in range(rows)]
        Path(name).write_text("".join(["length,urgency,kind\n", *lines]))


def _write_pool() -> None:
    texts = ["invoice wrong", "send my money back", "refund late", "my lawyer will write"]
    Path("labels.txt").write_text("billing\nrefund\nlegal\n")
    tickets = [{"id": f"ticket-{i}", "text": text} for i, text in enumerate(texts, 1)]
    Path("tickets.jsonl").write_text("".join(json.dumps(ticket) + "\n" for ticket in tickets))


def _write_teams() -> None:
    rows = [f"{i % 7},{i % 4},{'abc'[i % 3]}\n" for i in range(60)]
    Path("tickets.csv").write_text("".join(["length,urgency,team\n", *rows]))


def _write_sentences() -> None:
    for name in ("train.conll", "new.conll", "test.conll", "more.conll"):
        Path(name).write_text("Ada\tB-PER\nLovelace\tI-PER\nsaw\tO\n\nIt\tO\nrained\tO\n")
    Path("messy.conll").write_text("Ada\tI-PER\nLovelace\tI-PER\nsaw\tO\n")
    Path("costs.csv").write_text("truth,O,B-PER,I-PER\nO,0,1,1\nB-PER,1,0,0.5\nI-PER,1,0.5,0\n")


def _write_trees() -> None:
    lines = ["1 cats _ NOUN _ _ 2 nsubj _ _", "2 sleep _ VERB _ _ 0 root _ _", "3 . _ PUNCT _ _ 2 punct _ _", "", ""]
    for name in ("train.conllu", "new.conllu", "test.conllu", "more.conllu"):
        Path(name).write_text("\n".join(lines).replace(" ", "\t") * 5)


def _write_data() -> None:
    _write_tickets()
    lines = b"fly:0 walk:1 | wings\nfly:1 walk:0 | legs\n" * 10
    Path("clicks.vw.zst").write_bytes(zstandard.ZstdCompressor().compress(lines))


def _write_large_pool() -> None:
    """Few labelled tickets, so that questions are left, and a pool of others in two files."""
    make = runpy.run_path(str(ROOT / "examples" / "tickets" / "make.py"))
    make["main"]()
    lines = Path("tickets.csv").read_text().splitlines()
    Path("tickets.csv").write_text("\n".join(lines[:31]) + "\n")
    Path("pool").mkdir()
    for number in range(2):
        records = list(make["tickets"](60, seed=10 + number))
        columns = {name: [record[name] or None for record in records] for name in records[0] if name != "team"}
        columns["amount"] = [None if cell is None else float(cell) for cell in columns["amount"]]
        parquet.write_table(pa.table(columns), f"pool/part-{number:03d}.parquet")


def _write_outcomes() -> None:
    make = runpy.run_path(str(ROOT / "examples" / "routing" / "route_prompts.py"))
    for name, seed in (("outcomes.csv", 0), ("test.csv", 1)):
        make["write_outcomes"](Path(name), *make["prompts"](100, seed))


def _write_tickets_of_the_tutorial() -> None:
    exec(items("tutorials/tickets.md")[0].text, {})


FILES: dict[str, Callable[[], None]] = {
    "data.md": _write_data,
    "evaluating.md": _write_calls,
    "exchange.md": _write_pool,
    "labelling-service.md": _write_pool,
    "large-pools.md": _write_large_pool,
    "operations.md": _write_pool,
    "parsing.md": _write_trees,
    "reviewing.md": _write_pool,
    "routing.md": _write_outcomes,
    "service.md": _write_tickets_of_the_tutorial,
    "studies.md": _write_teams,
    "tagging.md": _write_sentences,
}


def _reports_need_nothing_else(names: dict[str, Any]) -> None:
    for page in ("digits.html", "calls.html"):
        assert_needs_nothing_else(Path(page).read_text(encoding="utf-8"))


def _both_sweeps_ran(names: dict[str, Any]) -> None:
    assert names["outcome"].finished == Study.read("tickets.toml").n_cells == 2 * 4 * 4
    assert names["page"].is_file()
    assert Path("by_command/report.html").is_file()


def _bounds_are_sensible(names: dict[str, Any]) -> None:
    assert 0.1 <= names["margin"] < 0.11
    assert names["level"].low < names["level"].value < names["level"].high
    assert names["first"] > 10**10
    assert (names["questions"][1:] > names["questions"][:-1]).all()
    assert (names["cost_above_best"][1:] < names["cost_above_best"][:-1]).all()


def _ranking_has_the_columns_of_the_page(names: dict[str, Any]) -> None:
    ranking = parquet.read_table("ranking.parquet")
    assert names["found"] == ranking.num_rows > 10
    predictions = parquet.read_table("pool/part-000.predictions.parquet")
    for name in (*predictions.column_names, *ranking.column_names[:6]):
        assert f"`{name}`" in PAGES["large-pools.md"], name


def _the_service_replies_as_the_page_shows(names: dict[str, Any]) -> None:
    text = PAGES["service.md"]
    (sent,), (shown,) = re.findall(r"-d '(.*)'", text), re.findall(r"^\[\{.*", text, re.MULTILINE)
    client = TestClient(names["app"])
    assert client.post("/predict", json=json.loads(sent)).json() == json.loads(shown)
    refused = client.post("/predict", json=[{"message": "where is my refund"}])
    assert (refused.status_code, "has no 'channel'" in refused.text) == (422, True)


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "evaluating.md": _reports_need_nothing_else,
    "large-pools.md": _ranking_has_the_columns_of_the_page,
    "service.md": _the_service_replies_as_the_page_shows,
    "studies.md": _both_sweeps_ran,
    "theory.md": _bounds_are_sensible,
}
