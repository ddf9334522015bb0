"""Rounds: what was shown, predicted, asked and answered about each example, and the ledgers that keep them.

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.rounds.arrays import answer_arrays as answer_arrays
    from coalface.rounds.database import BIG as BIG, Database as Database, sql_step as sql_step
    from coalface.rounds.database import without_password as without_password
    from coalface.rounds.event_log import Event as Event, EventLog as EventLog, any_event as any_event
    from coalface.rounds.label_change import ADD as ADD, LabelChange as LabelChange, LabelSet as LabelSet
    from coalface.rounds.label_change import RENAME as RENAME, change_of as change_of
    from coalface.rounds.ledger import Ledger as Ledger
    from coalface.rounds.lines import question_line as question_line
    from coalface.rounds.queries import AskedCounts as AskedCounts, CostRanges as CostRanges, Queries as Queries
    from coalface.rounds.queries import REASONS as REASONS
    from coalface.rounds.round import Costs as Costs, Outlook as Outlook, Round as Round
else:
    __getattr__, __dir__ = door_of(__name__)
