"""``python -m benchmarks.dependency_parsing``: one training pass of the parser against VW's ``dep_parser``.

Both run on one core, alternately, and CPU seconds count. VW reads the words and one tag per word from its cache,
without start-up; coalface starts from trees in memory, and checking and preparing them counts. VW costs its actions in
two ways: by roll-outs with its oracle, or directly from the oracle (``--cost_to_go``), which is its fastest. The data
is read from $COALFACE_DATA.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.interleaved import interleave
from benchmarks.machine import Seconds, run_python, timed, use_one_core
from benchmarks.vw import Driver
from coalface.data.formats.conllu import Tree, read_trees
from coalface.structured import DependencyParser
from coalface.structured.policies import parser_policy

RULES = ("passive", "coal")
VW_COSTS = {
    "oracle roll-outs": ["--search_rollout", "oracle"],
    "cost to go": ["--cost_to_go", "--search_rollout", "none"],
}
_TABLE_BITS = 24
_ESCAPES = str.maketrans({":": "_c", "|": "_p", " ": "_s"})


@dataclass(frozen=True)
class Speed:
    """CPU seconds of one pass, medians, and how many times as fast coalface is, the median over pairs of runs."""

    rule: str
    vw_costs: str
    our_seconds: float
    vw_seconds: float
    times_as_fast: float


def against_vw(trees: Sequence[Tree], rule: str, vw_costs: str, repeats: int) -> Speed:
    """One pass of each over the same sentences."""
    labels = sorted({label for tree in trees for label in tree.labels})
    args = ["--search_task", "dep_parser", "--search", f"{2 * len(labels) + 1}", "--num_label", f"{len(labels)}"]
    args += ["--root_label", f"{labels.index('root') + 1}", "--search_alpha", "1e-4", "--search_no_caching"]
    args += ["--search_history_length", "3", "-b", f"{_TABLE_BITS}", "--holdout_off", *VW_COSTS[vw_costs]]
    with TemporaryDirectory() as place:
        lines, one_line, cache = (Path(place, name) for name in ("train.vw", "one.vw", "train.cache"))
        lines.write_text(_as_vw(trees, labels))
        one_line.write_text(_as_vw(trees[:1], labels))
        run_python(["-m", "vowpalwabbit", *args, "-d", f"{lines}", "--cache_file", f"{cache}", "-k", "--quiet"])
        driver = Driver(args, lines, cache, one_line)
        _seconds_to_learn(trees[:1], rule)  # loads compiled code
        pairs = interleave(lambda: _seconds_to_learn(trees, rule), driver.seconds, repeats)
    ours, theirs = (median(run.cpu for run in runs) for runs in (pairs.ours, pairs.theirs))
    return Speed(rule, vw_costs, ours, theirs, median(pairs.ratios))


def _seconds_to_learn(trees: Sequence[Tree], rule: str) -> Seconds:
    return timed(lambda: DependencyParser(policy=parser_policy(rule=rule), passes=1).fit(trees))[0]


def _as_vw(trees: Sequence[Tree], labels: list[str]) -> str:
    blocks = []
    for tree in trees:
        words = zip(tree.words, tree.tags, tree.heads, tree.labels, strict=True)
        blocks.append(
            "".join(
                f"{head} {labels.index(label) + 1}|w {word.translate(_ESCAPES)} |p {tag.translate(_ESCAPES)}\n"
                for word, tag, head, label in words
            )
        )
    return "\n".join(blocks)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.dependency_parsing", description=__doc__)
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    root = os.environ.get("COALFACE_DATA")
    if not root:
        print("benchmarks.dependency_parsing needs a treebank: set COALFACE_DATA to the folder that has it.")
        return
    use_one_core()
    trees = read_trees(Path(root, "ud_english_heads", "ewt-train.conllu.gz"))[: options.sentences]
    for rule in RULES:
        for vw_costs in VW_COSTS:
            speed = against_vw(trees, rule, vw_costs, options.repeats)
            seconds = f"{speed.our_seconds:.2f} s, VW ({vw_costs}) {speed.vw_seconds:.2f} s"
            print(f"{rule}: {seconds}: {speed.times_as_fast:.1f} times as fast", flush=True)


if __name__ == "__main__":
    main()
