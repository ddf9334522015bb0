"""The same examples in every format that is streamed, plain and compressed."""

import gzip
import json

import numpy as np
import zstandard

N_ROWS = 230
LABELS = ["billing", "other", "refund"]


def examples(n_rows=N_ROWS):
    """Rows of three numbers and their true labels, all of which the first ten rows have."""
    random = np.random.default_rng(0)
    truth = np.concatenate([np.arange(10) % 3, random.integers(3, size=n_rows - 10)])
    X = random.normal(size=(n_rows, 3)).round(3) + np.eye(3)[truth] * 2
    return X.round(3), truth


def vw_text(n_rows=N_ROWS):
    """Named features that appear in the course of the file, costs, some unknown, and candidates."""
    X, truth = examples(n_rows)
    lines = []
    for i, (row, best) in enumerate(zip(X.tolist(), truth.tolist(), strict=True)):
        costs = [f"{label}:{float(k != best)}" if (i + k) % 7 else label for k, label in enumerate(LABELS)]
        listed = " ".join(costs if i % 5 else costs[:2])
        lines.append(f"{listed} |w {' '.join(f'{n}:{v}' for n, v in zip('abc', row, strict=True))} word{i % 60}\n")
    return "".join(lines)


def numbered_text(n_rows=N_ROWS):
    """Numbered features, of which later lines have larger ones, and true classes."""
    X, truth = examples(n_rows)
    rows = enumerate(zip(X.tolist(), truth.tolist(), strict=True))
    return "".join(f"{k + 1} | 0:{row[0]} 1:{row[1]} 2:{row[2]} {3 + i // 4}:1\n" for i, (row, k) in rows)


def csv_text(n_rows=N_ROWS):
    X, truth = examples(n_rows)
    rows = zip(X.tolist(), truth.tolist(), strict=True)
    return "a,b,c,kind\n" + "".join(f"{','.join(map(str, row))},{LABELS[k]}\n" for row, k in rows)


def raw_records(n_rows=N_ROWS):
    """Records with a text, of several lines, a category and a number that is sometimes missing."""
    X, truth = examples(n_rows)
    words = ["late\nparcel", 'my "money"', "wrong, name"]
    for i, (row, k) in enumerate(zip(X.tolist(), truth.tolist(), strict=True)):
        yield {
            "id": f"t-{i}",
            "message": f"{words[k]} number {i}",
            "channel": ["mail", "chat"][i % 2],
            "amount": None if i % 9 == 4 else row[0],
            "kind": LABELS[k],
        }


def jsonl_text(n_rows=N_ROWS):
    records = list(raw_records(n_rows))
    for record in records[::13]:
        if record["amount"] is None:
            del record["amount"]
    return "".join(json.dumps(record) + "\n" for record in records)


def packed(text, how):
    raw = text.encode()
    if how == "gz":
        return gzip.compress(raw)
    return zstandard.ZstdCompressor().compress(raw) if how == "zst" else raw
