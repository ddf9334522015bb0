"""kill -9 during ``coalface label`` with an LLM judge: no reply is bought twice, and the books balance to the cent."""

import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.desk.fake_llm import KEY, fake_llm, honest, status
from tests.desk.projects import same_bits, small_project

KILLS = int(os.environ.get("COALFACE_KILLS", "20"))
PRICE_IN, PRICE_OUT = 250.0, 1000.0  # a call costs several cents, so that a lost one shows


def label(folder, url):
    """The command, in a process that has all modules loaded."""
    from coalface.cli import main

    os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
    prices = ["--price-in", str(PRICE_IN), "--price-out", str(PRICE_OUT)]
    options = ["--annotator", "openai:fake", "--workers", "4", "--backoff", "0.01", *prices]
    sys.argv = ["coalface", "label", str(folder), *options]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123  (until the process ends)
    main()


def moody(request, n):
    """Mostly honest, sometimes busy, sometimes invalid, which costs money too."""
    if n % 13 == 5:
        return status(429)
    return "I think it is fine." if n % 11 == 3 else honest(request)


def calls_in(log):
    """The calls of a project's log: all that began, and how they ended."""
    begun = {event.id: event for event in log.read(kinds=["calling"])}
    ended = {event.body["call"]: event for event in log.read(kinds=["called"])}
    return begun, ended


def check(folder, fake, kills):
    """The project's books against the endpoint's ledger; the requests that were under way at a kill."""
    desk = Desk(Project.open(folder))
    try:
        begun, ended = calls_in(desk.state.log)
        book = desk.state.counters.calls
        under_way = [event for number, event in begun.items() if number not in ended]
        assert sorted(book.under_way) == [event.id for event in under_way]
        assert len(under_way) <= 4 * kills
        assert not book.lost
        seen = {event.body["reply"]["id"]: event for event in ended.values() if event.body["outcome"] == "paid"}
        charged = {said["id"]: said for said in fake.ledger}
        assert seen.keys() <= charged.keys()
        own = sum(PRICE_IN * charged[one]["tokens_in"] + PRICE_OUT * charged[one]["tokens_out"] for one in seen) / 1e6
        assert book.price == pytest.approx(own, abs=1e-9)  # sums of binary fractions in another order
        assert book.tokens_in == sum(charged[one]["tokens_in"] for one in seen)
        assert book.tokens_out == sum(charged[one]["tokens_out"] for one in seen)
        assert desk.progress().price == pytest.approx(book.price, abs=1e-9)
        unseen = [said for number, said in charged.items() if number not in seen]
        assert len(unseen) <= len(under_way)
        assert -1e-9 <= fake.price(PRICE_IN, PRICE_OUT) - book.price <= book.at_risk + 1e-9
        bought = Counter(said["request"] for said in charged.values() if said["id"] in seen)
        assert max(bought.values(), default=1) == 1  # a reply that was received is never bought again
        doubled = sum(n - 1 for n in Counter(said["request"] for said in charged.values()).values())
        assert doubled <= len(unseen)
        answers = Counter((event.example, event.body["step"]) for event in desk.state.log.read(kinds=["answered"]))
        assert max(answers.values(), default=1) == 1
        rebuilt = desk.project.new_learner()
        desk.state.model._fold(rebuilt, 0)
        assert same_bits(desk.state.model.learner, rebuilt)
        return len(under_way), len(seen)
    finally:
        desk.close()


@pytest.mark.slow
def test_after_many_kills_no_reply_was_bought_twice_and_the_books_balance(tmp_path):
    folder = tmp_path / "mail"
    small_project(folder, n=1500, learner={"mellowness": 0.9, "rule": {"alike": None}})
    random.seed(0)
    context = multiprocessing.get_context("fork")
    with fake_llm(moody, delay=0.02) as fake:
        for kill in range(KILLS):
            process = context.Process(target=label, args=(folder, fake.url))
            process.start()
            before, deadline = len(fake.ledger), time.monotonic() + 120
            while len(fake.ledger) < before + 5 and time.monotonic() < deadline and process.is_alive():
                time.sleep(0.005)
            time.sleep(random.uniform(0.0, 0.3))
            assert process.is_alive()
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            time.sleep(0.05)  # the endpoint completes what it began
            under_way, seen = check(folder, fake, kill + 1)
        assert under_way > 0
        assert seen > 5 * KILLS / 2
