"""The table of keys names every key of a question, an answer and a line of a ledger."""

import re
from dataclasses import fields

from coalface.rounds.round import Round
from tests.documentation.blocks import PAGES

WRITTEN_AS = {"number": "round", "width": "n_features"}


def test_every_key_of_a_line_is_in_the_table():
    table = re.findall(r"^\| (`.*?) \|", PAGES["keeping-answers.md"], re.MULTILINE)
    named = {key for cell in table for key in re.findall(r"`(\w+)`", cell)}
    keys = {WRITTEN_AS.get(field.name, field.name) for field in fields(Round)}
    assert {"row", "id", *keys} - named == set()
