"""Rounds: what was shown, predicted, asked and answered about each example, and the ledgers that keep them.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.rounds.arrays import answer_arrays
    from coalface.rounds.database import BIG, Database, sql_step, without_password
    from coalface.rounds.event_log import Event, EventLog, any_event
    from coalface.rounds.label_change import ADD, RENAME, LabelChange, LabelSet, change_of
    from coalface.rounds.ledger import Ledger
    from coalface.rounds.lines import question_line
    from coalface.rounds.queries import REASONS, AskedCounts, CostRanges, Queries
    from coalface.rounds.round import Costs, Outlook, Round
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "ADD",
    "BIG",
    "REASONS",
    "RENAME",
    "AskedCounts",
    "CostRanges",
    "Costs",
    "Database",
    "Event",
    "EventLog",
    "LabelChange",
    "LabelSet",
    "Ledger",
    "Outlook",
    "Queries",
    "Round",
    "answer_arrays",
    "any_event",
    "change_of",
    "question_line",
    "sql_step",
    "without_password",
]
