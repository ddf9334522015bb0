"""Every cost asked for and answered, in order, append-only: the truth of which a model is a fold."""

from coalface.ledger.entry import Answer, Entry
from coalface.ledger.jsonlines import JsonLinesLedger
from coalface.ledger.memory import Ledger, MemoryLedger

__all__ = ["Answer", "Entry", "JsonLinesLedger", "Ledger", "MemoryLedger"]
