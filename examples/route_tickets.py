"""Route support tickets, where a wrong queue can be a nuisance or a disaster, and ask for few costs.

Tickets arrive as text, one at a time. The annotator (here a table) is asked only about queues that could be the best
and whose cost is uncertain. Every answer is written to a ledger before it is learned.

    python examples/route_tickets.py

It prints a table and the reasons for a question, and draws tickets.svg: questions per ticket as the learner learns.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.feature_extraction.text import HashingVectorizer

from coalface import CoalClassifier, JsonLinesLedger

QUEUES = ["billing", "refunds", "legal", "technical"]
PHRASES = {
    "billing": ["invoice wrong amount", "charged twice this month", "update my card", "where is my invoice"],
    "refunds": ["want my money back", "return the order", "refund not arrived", "cancel and refund"],
    "legal": ["my lawyer will write", "delete all my data", "court order attached", "privacy complaint"],
    "technical": ["app crashes on start", "cannot log in", "error after update", "page does not load"],
}
COST = np.array(  # row = the right queue, column = the chosen queue
    [[0.0, 0.2, 0.6, 0.4], [0.2, 0.0, 0.6, 0.5], [1.0, 1.0, 0.0, 1.0], [0.3, 0.4, 0.7, 0.0]]
)


def tickets(number: int, seed: int) -> list[tuple[str, str]]:
    """Random tickets as (text, right queue)."""
    rng = np.random.default_rng(seed)
    words = ["please", "help", "today", "urgent", "thanks", "order", "account", "hello", "again", "still"]
    drawn = []
    for _ in range(number):
        queue = str(rng.choice(QUEUES))
        phrase = str(rng.choice(PHRASES[queue]))
        drawn.append((f"{rng.choice(words)} {phrase} {rng.choice(words)}", queue))
    return drawn


def draw(asked: list[int]) -> None:
    """Questions per ticket, as a mean over the last 30."""
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(np.convolve(asked, np.ones(30) / 30, mode="valid"))
    axes.set_ylim(0, len(QUEUES))
    axes.set_xlabel("tickets")
    axes.set_ylabel("questions per ticket")
    figure.savefig("tickets.svg")


def main() -> None:
    """Learn from a stream of tickets, and test the model on new ones along the way."""
    words = HashingVectorizer(n_features=2**18, alternate_sign=False)
    texts, queues = zip(*tickets(400, seed=1), strict=True)
    new, new_cost = words.transform(texts), COST[[QUEUES.index(queue) for queue in queues]]
    asked: list[int] = []
    print(f"{'tickets':>8}{'costs asked for':>17}{'of':>7}{'mean cost on new tickets':>26}")
    with tempfile.TemporaryDirectory() as folder:
        ledger = JsonLinesLedger(Path(folder, "answers.jsonl"))
        learner = CoalClassifier(classes=QUEUES, mellowness=0.003).record_to(ledger)
        for text, queue in tickets(600, seed=0):
            x = words.transform([text])
            queries = learner.ask(x)
            cost = np.where(queries.mask, COST[QUEUES.index(queue)], np.nan)  # the annotator's answers
            learner.tell(x, cost, asked=queries)
            asked.append(int(queries.mask.sum()))
            if len(asked) in (75, 150, 300, 600):
                everything, mean = len(asked) * len(QUEUES), -learner.score(new, cost=new_cost)
                print(f"{len(asked):8}{learner.costs_queried_:17,}{everything:7,}{mean:26.3f}")
        rebuilt = CoalClassifier.from_ledger(ledger)

    print(learner.ask(words.transform(["hello my lawyer will write about the invoice"])).reason(0))
    same = np.array_equal(learner.predict_cost(new), rebuilt.predict_cost(new))
    print(f"the model rebuilt from the ledger is the same: {same}")
    draw(asked)


if __name__ == "__main__":
    main()
