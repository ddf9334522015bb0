"""Processes that are killed in the middle of their work."""

import multiprocessing
import os
import random
import signal
import time

from coalface.desk.service.messages import NoQuestion
from tests.desk.projects import costs_for


def annotate(desk, who, life, acknowledge):
    """Answer until killed. ``acknowledge`` writes a receipt and its key down, and returns the next question or None."""
    while True:
        question = desk.lease(who, ttl=5)
        if isinstance(question, NoQuestion):
            time.sleep(0.01)
            continue
        while question:
            key = f"{life}-{who}-{question.lease_id}-{question.id}"
            question = acknowledge(desk.answer(who, question.id, question.lease_id, costs_for(question), key), key)


def killed(work, *arguments, acknowledged, more):
    """Run ``work`` in a process and kill it after it has added ``more`` bytes to the file ``acknowledged``."""
    context = multiprocessing.get_context("fork")  # starts in no time, with all modules loaded
    before, deadline = _size(acknowledged), time.monotonic() + 120
    process = context.Process(target=work, args=arguments)
    process.start()
    while time.monotonic() < deadline and _size(acknowledged) < before + more:
        time.sleep(0.02)
    time.sleep(random.uniform(0.0, 0.3))
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL  # it was killed in the middle, and did not end by itself


def _size(file):
    return file.stat().st_size if file.exists() else 0
