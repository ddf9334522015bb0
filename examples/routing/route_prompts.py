"""Route prompts between three models, and buy few outcomes: from a price list to the quality that money buys.

The prompts are synthetic: sums, translations and proofs. A small model can do sums, a middle one translations, and
only the large one proofs. Every outcome is a paid run, so the router decides which to buy.

    python examples/routing/route_prompts.py

It writes outcomes.csv, trains a router, prints a table of loss against price, and draws it to trade-off.svg.
"""

import csv
from pathlib import Path

import numpy as np

from coalface.routing import Router

MODELS = ("small", "middle", "large")
DOLLARS = {"small": 0.0002, "middle": 0.001, "large": 0.01}  # per call
WRONG_ANSWER = 0.05  # dollars that a wrong answer costs us
FAILURES = {  # how often each model fails at each kind of prompt
    "sum": (0.05, 0.04, 0.02),
    "translation": (0.45, 0.08, 0.05),
    "proof": (0.95, 0.70, 0.15),
}
WORDS = {
    "sum": "add numbers total plus minus invoice count",
    "translation": "translate French German sentence letter phrase into",
    "proof": "prove theorem lemma show every integer contradiction",
}


def prompts(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Prompts, and the loss of every model on each: 1 where its answer is wrong."""
    random = np.random.default_rng(seed)
    kinds = random.choice(list(FAILURES), n, p=[0.5, 0.3, 0.2])
    texts = [" ".join(random.choice(WORDS[kind].split(), 6)) for kind in kinds]
    chances = np.array([FAILURES[kind] for kind in kinds])
    return texts, (random.random((n, len(MODELS))) < chances).astype(float)


def write_outcomes(path: Path, texts: list[str], loss: np.ndarray) -> None:
    """A table in long form, as ``coalface route train`` reads it: one line per prompt and model."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "model", "loss", "price"])
        for i, text in enumerate(texts):
            for k, model in enumerate(MODELS):
                writer.writerow([i, text, model, loss[i, k], DOLLARS[model]])


def main() -> None:
    """Train with the outcomes that the router asks for, then measure it on new prompts."""
    texts, loss = prompts(1500, seed=0)
    new_texts, new_loss = prompts(1000, seed=1)
    write_outcomes(Path("outcomes.csv"), new_texts, new_loss)
    router = Router(MODELS, DOLLARS, WRONG_ANSWER)
    router.interview(texts, lambda i, model: loss[i, MODELS.index(model)])
    everything = len(texts) * sum(DOLLARS.values())
    print(f"bought {router.outcomes_known_} of {loss.size} outcomes, for ${router.spent_:.2f} of ${everything:.2f}")
    points = router.trade_off(new_texts, new_loss)
    total = WRONG_ANSWER * points.loss[points.chosen] + points.price[points.chosen]
    singles = WRONG_ANSWER * points.model_loss + points.model_price
    print(f"cost per prompt, wrong answers included: ${total:.4f}; best single model ${singles.min():.4f}")
    print(points.table())
    points.save_figure(Path("trade-off.svg"))
    router.save("models.router")


if __name__ == "__main__":
    main()
