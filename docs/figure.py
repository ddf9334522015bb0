"""Draw docs/demo.svg from runs of the demo, keep its numbers in docs/demo.json, and put them into the README.

``make figure`` runs it with 20 permutations; ``python docs/figure.py 3`` runs it with three.
"""

import json
import re
import sys
import textwrap
from pathlib import Path

from coalface.evaluate.summary import rules_panel
from coalface.report.charts import draw_curves
from coalface.report.figure_style import css_variables
from coalface.studies.demo import N_LABELS, WARM_UP, in_a_sentence, run_demo

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
_SENTENCE = re.compile(r"(?<=\(0/1 costs\),)\s.*?(?=\.\s`coalface\sdemo`)", re.DOTALL)


def main(n_permutations: int = 20) -> None:
    """Draw the figure as a file of its own, for light and dark pages."""
    demo = run_demo(n_permutations)
    start = WARM_UP * N_LABELS
    panels = [rules_panel(f"{kind} costs", runs, start=start) for kind, runs in demo.runs.items()]
    svg = draw_curves(panels, "Test cost against costs asked for").replace(
        "font-family: inherit", "font-family: sans-serif"
    )
    dark = f"@media (prefers-color-scheme: dark) {{ svg {{ {css_variables(dark=True)} }} }}"
    head, body = svg.split(">", 1)
    (HERE / "demo.svg").write_text(f"{head}><style>{dark}</style>{body}\n")
    plain = demo.plain()
    (HERE / "demo.json").write_text(json.dumps({"permutations": n_permutations, **plain["tables"]}, indent=1) + "\n")
    text, found = _SENTENCE.subn(
        lambda _: f" {in_a_sentence(demo.summaries['0/1'])}", README.read_text(encoding="utf-8")
    )
    if found != 1:
        raise SystemExit(f"{README} must have one sentence about the demo, got {found}.")
    paragraphs = text.split("\n\n")
    place = next(i for i, paragraph in enumerate(paragraphs) if "(0/1 costs)," in paragraph)
    paragraphs[place] = textwrap.fill(" ".join(paragraphs[place].split()), 126, break_on_hyphens=False)
    README.write_text("\n\n".join(paragraphs), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
