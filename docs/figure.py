"""Draws docs/demo.svg, the figure of the README, from the runs of the demo: ``make figure``."""

from pathlib import Path

from coalface.studies.demo.runs import N_LABELS, WARM_UP, run_demo
from coalface.studies.report.colours import ink_variables
from coalface.studies.report.figures import curve_lines, draw_curves


def main() -> None:
    """Draw the figure so that it stands alone, on light and on dark pages."""
    demo = run_demo()
    panels = {f"{kind} costs": curve_lines(runs, start=WARM_UP * N_LABELS) for kind, runs in demo.runs.items()}
    svg = draw_curves(panels).replace("font-family: inherit", "font-family: sans-serif")
    dark = f"@media (prefers-color-scheme: dark) {{ svg {{ {ink_variables(dark=True)} }} }}"
    head, body = svg.split(">", 1)
    Path(__file__).with_name("demo.svg").write_text(f"{head}><style>{dark}</style>{body}\n")


if __name__ == "__main__":
    main()
