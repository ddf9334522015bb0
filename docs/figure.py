"""Draw docs/demo.svg, the figure of the README, from the runs of the demo: ``make figure``."""

from pathlib import Path

from coalface.evaluate.summary import rules_panel
from coalface.report.charts import draw_curves
from coalface.report.figure_style import css_variables
from coalface.studies.demo.runs import N_LABELS, WARM_UP, run_demo


def main() -> None:
    """Draw the figure as a file of its own, for light and dark pages."""
    demo = run_demo(n_permutations=20)
    start = WARM_UP * N_LABELS
    panels = [rules_panel(f"{kind} costs", runs, start=start) for kind, runs in demo.runs.items()]
    svg = draw_curves(panels, "Test cost against costs asked for").replace(
        "font-family: inherit", "font-family: sans-serif"
    )
    dark = f"@media (prefers-color-scheme: dark) {{ svg {{ {css_variables(dark=True)} }} }}"
    head, body = svg.split(">", 1)
    Path(__file__).with_name("demo.svg").write_text(f"{head}><style>{dark}</style>{body}\n")


if __name__ == "__main__":
    main()
