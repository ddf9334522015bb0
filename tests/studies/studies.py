"""Small studies that run in a second, and what of their results can be compared."""

from pathlib import Path

from coalface.studies.results import Results
from coalface.studies.study import Study

STUDIES = Path(__file__).parents[2] / "studies"
LINES = """
[settings]
learning_rate = [0.1, 0.3]

[lines.passive]
rule = "passive"

[lines.coal]
mellowness = [0.1, 0.01]
"""


def small_study(permutations=2, data='["iris"]', lines=LINES, plugins=()):
    """Twelve cells of a few milliseconds each; plug-ins are those of the committed studies."""
    text = f"plugins = {list(plugins)}\ndata = {data}\npermutations = {permutations}\n{lines}"
    return Study.from_toml(text, folder=STUDIES, allow_plugins=True)


def numbers_of(folder):
    """All that a sweep found, without how long it took."""
    found = {}
    for key, record in Results(folder).finished.items():
        curve = {name: value for name, value in record["curve"].items() if name != "seconds"}
        found[key] = {**record, "curve": curve, "seconds": 0.0}
    return found


def lines_of(folder):
    """The keys in the journal as they were written, each as often as it stands there."""
    from coalface.files.journal import Journal
    from coalface.studies.results import FILE

    return [line["key"] for _, line in Journal(folder / FILE, "sweep", 1) if "key" in line]
