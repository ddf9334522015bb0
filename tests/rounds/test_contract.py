"""The contract of every ledger, run over each of them."""

import pytest

from coalface.errors import InputError
from coalface.rounds.event_log import SqlLedger
from coalface.rounds.ledger import JsonLinesLedger, MemoryLedger
from coalface.rounds.round import Outlook, Round
from tests.rounds import postgres

HEADER = {"params": {"mellowness": 0.1}, "classes": ["a", "b"]}
ROUNDS = [
    Round(1, width=5, indices=(0, 4), values=(1.0, -2.5), ask=("a", "b"), costs={"a": 0.25, "b": None}),
    Round(2, width=5),
    Round(3, width=6, indices=(5,), values=(1e-30,), costs={"b": 1.0}, unasked=("b",), candidates=("b",)),
    Round(3, late=True, width=6, indices=(5,), values=(0.1,), ask=("a",), costs={"a": 0.5}),
    Round(4, width=6, indices=(1,), values=(1.0,), ask=("b",), costs={"b": 0.5}, propensity={"b": 0.125}),
    Round(5, width=6, candidates=(), outlook=Outlook("a", 0.25, 1.0, 0.0)),
]


class LedgerContract:
    """Subclasses make a ledger with ``new(folder)`` and open it a second time with ``again(ledger)``."""

    def test_it_is_empty_at_first(self, tmp_path):
        ledger = self.new(tmp_path)
        assert ledger.header is None
        assert len(ledger) == 0
        assert list(ledger) == []

    def test_it_returns_header_and_rounds_in_order(self, tmp_path):
        ledger = self.new(tmp_path)
        ledger.begin(HEADER)
        ledger.append(ROUNDS[:2])
        ledger.append([])
        ledger.append(ROUNDS[2:])
        for seen in (ledger, self.again(ledger)):
            assert seen.header == HEADER
            assert list(seen) == ROUNDS
            assert len(seen) == len(ROUNDS)

    def test_it_continues_after_it_was_read_again(self, tmp_path):
        ledger = self.new(tmp_path)
        ledger.begin(HEADER)
        ledger.append(ROUNDS[:3])
        ledger = self.again(ledger)
        ledger.append(ROUNDS[3:])
        assert list(self.again(ledger)) == ROUNDS

    def test_reading_twice_gives_the_same(self, tmp_path):
        ledger = self.new(tmp_path)
        ledger.begin(HEADER)
        ledger.append(ROUNDS)
        assert list(ledger) == list(ledger) == ROUNDS

    def test_a_reader_in_the_middle_is_not_disturbed_by_a_writer(self, tmp_path):
        ledger = self.new(tmp_path)
        ledger.begin(HEADER)
        ledger.append(ROUNDS[:2])
        reader = iter(ledger)
        first = next(reader)
        ledger.append(ROUNDS[2:])
        seen = [first, *reader]
        assert seen == ROUNDS[: len(seen)]
        assert len(seen) >= 2

    def test_a_second_header_is_refused(self, tmp_path):
        ledger = self.new(tmp_path)
        ledger.begin(HEADER)
        for seen in (ledger, self.again(ledger)):
            with pytest.raises(InputError, match="has begun already"):
                seen.begin(HEADER)
        assert self.again(ledger).header == HEADER

    def test_rounds_without_a_header_are_refused(self, tmp_path):
        ledger = self.new(tmp_path)
        with pytest.raises(InputError, match="has not begun"):
            ledger.append(ROUNDS)
        assert len(ledger) == 0

    def test_what_the_caller_does_to_the_header_later_changes_nothing(self, tmp_path):
        ledger = self.new(tmp_path)
        header = {"params": {}, "classes": ["a"]}
        ledger.begin(header)
        header["classes"] = ["z"]
        assert ledger.header["classes"] == ["a"]


class TestMemoryLedger(LedgerContract):
    def new(self, folder):  # noqa: ARG002
        return MemoryLedger()

    def again(self, ledger):
        return ledger


class TestJsonLinesLedger(LedgerContract):
    def new(self, folder):
        return JsonLinesLedger(folder / "answers.jsonl")

    def again(self, ledger):
        return JsonLinesLedger(ledger.path)


class SqlContract(LedgerContract):
    """Subclasses say where the database is: ``self.url``."""

    @pytest.fixture(autouse=True)
    def _closed_at_the_end(self):
        self.opened = []
        yield
        for ledger in self.opened:
            ledger.close()

    def open(self, url):
        self.opened.append(SqlLedger(url))
        return self.opened[-1]

    def again(self, ledger):
        return self.open(ledger.url)


class TestSqliteLedger(SqlContract):
    def new(self, folder):
        return self.open(f"sqlite:///{folder}/answers.db")


class TestPostgresLedger(SqlContract):
    @pytest.fixture(autouse=True)
    def _database(self, postgres_server):
        self.url = postgres.fresh_database(postgres_server, "ledger")

    def new(self, folder):  # noqa: ARG002
        return self.open(self.url)
