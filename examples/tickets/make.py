"""Write made-up support tickets: tickets.csv with the right team, new.csv without it, and costs.csv.

    python examples/tickets/make.py

Both tables have an id, a message, a channel, an amount that is sometimes missing, and the time of arrival.
"""

import csv
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

PHRASES = {
    "billing": ["the invoice shows a wrong amount", "I was charged twice", "please update my card"],
    "refunds": ["I want my money back", "the refund has not arrived", "how do I return the order"],
    "legal": ["my lawyer will write to you", "delete all my personal data", "a court order is attached"],
}
WORDS = ["hello", "please", "again", "today", "urgent", "thanks", "order", "account", "still", "really"]
COSTS = """truth,billing,refunds,legal
billing,0,0.2,0.6
refunds,0.2,0,0.6
legal,1,1,0
"""


def tickets(number: int, seed: int) -> Iterator[dict[str, str]]:
    """Random tickets; lawyers rarely chat, and refunds have larger amounts."""
    rng = random.Random(seed)
    for place in range(number):
        team = rng.choice(list(PHRASES))
        words = [rng.choice(WORDS) for _ in range(4)]
        amount = rng.uniform(20, 90) if team == "refunds" else rng.uniform(1, 60)
        yield {
            "id": f"{seed}-{place:03}",
            "message": f"{words[0]} {words[1]} {rng.choice(PHRASES[team])} {words[2]} {words[3]}",
            "channel": rng.choice(["mail", "form"] if team == "legal" else ["mail", "form", "chat"]),
            "amount": "" if rng.random() < 0.2 else f"{amount:.2f}",
            "arrived": str(datetime(2026, 3, 2, 8) + timedelta(minutes=37 * place)),
            "team": team,
        }


def write(path: Path, rows: list[dict[str, str]], columns: list[str]) -> None:
    """Write some columns of the rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main(folder: Path = Path()) -> None:
    """Write the three files."""
    columns = ["id", "message", "channel", "amount", "arrived", "team"]
    write(folder / "tickets.csv", list(tickets(300, seed=1)), columns)
    write(folder / "new.csv", list(tickets(50, seed=2)), columns[:-1])
    (folder / "costs.csv").write_text(COSTS, encoding="utf-8")
    print("wrote tickets.csv, new.csv and costs.csv")


if __name__ == "__main__":
    main()
