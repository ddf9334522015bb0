"""The numbers of an evaluation report, row by row in plain Python."""

import math


def judged_rows(answers, cost, candidates, abstain_cost=None):
    """Row number, predicted column, what it cost, and the known costs by column, of every row that can be judged."""
    found = []
    for i, (answer, costs) in enumerate(zip(answers, cost, strict=True)):
        known = {k: c for k, c in enumerate(costs) if candidates[i][k] and not math.isnan(c)}
        if answer == len(costs) and known:
            found.append((i, answer, abstain_cost, known))
        elif answer in known:
            found.append((i, answer, known[answer], known))
    return found


def cheapest_of(answer, known):
    least = min(known.values())
    return answer if known.get(answer) == least else min(k for k, c in known.items() if c == least)


def breakdown(rows, abstain_cost=None):
    """Mean cost, mean of the cheapest, and the sums (rows, cost, extra) by true label and by kind of mistake."""
    labels, mistakes, total, least_total = {}, {}, 0.0, 0.0
    for _, answer, paid, known in rows:
        truth = cheapest_of(answer, known)
        least = min(known.values()) if abstain_cost is None else min(*known.values(), abstain_cost)
        total, least_total = total + paid, least_total + least
        n, summed = labels.get(truth, (0, 0.0))
        labels[truth] = (n + 1, summed + paid)
        if answer != truth and paid > least:
            n, summed, extra = mistakes.get((truth, answer), (0, 0.0, 0.0))
            mistakes[truth, answer] = (n + 1, summed + paid, extra + paid - least)
    return total / len(rows), least_total / len(rows), labels, mistakes


def best_single(rows, candidates, n_labels):
    """The column and mean cost of the label that is best on its own, if one is allowed everywhere and known enough."""
    best = None
    for k in range(n_labels):
        costs = [known[k] for *_, known in rows if k in known]
        allowed = all(candidates[i][k] for i, *_ in rows)
        if allowed and 2 * len(costs) >= len(rows):
            mean = sum(costs) / len(costs)
            if best is None or mean < best[1] - 1e-12:
                best = k, mean
    return best


def coverage(rows, lowest, highest, candidates, rounding=1e-6):
    """The shares of known costs inside their range, and of rows whose cheapest labels are all ruled out."""
    inside, n, ruled_out = 0, 0, 0
    for i, _, _, known in rows:
        inside += sum(lowest[i][k] - rounding <= c <= highest[i][k] + rounding for k, c in known.items())
        n += len(known)
        guaranteed = min(high for k, high in enumerate(highest[i]) if candidates[i][k])
        least = min(known.values())
        ruled_out += all(lowest[i][k] > guaranteed for k, c in known.items() if c == least)
    return inside / n, ruled_out / len(rows)
