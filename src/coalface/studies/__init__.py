"""Studies: many simulated runs described by one TOML file, on one machine or a cluster, and their report.

A study consists of cells, one run each. A sweep runs the cells that are not finished yet. A report chooses learning
rates, draws the curves and computes the savings.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> study = Study.from_toml('data = ["iris"]' + chr(10) + "permutations = 2" + chr(10) + "[lines.coal]")
>>> with TemporaryDirectory() as folder:
...     run_sweep(study, Path(folder)).finished
...     write_report_of(folder).name
2
'report.html'
"""

import os
from pathlib import Path

from coalface.studies.collect_results import collect_results
from coalface.studies.report.pages import write_report
from coalface.studies.results import FILE, Results
from coalface.studies.study import Study
from coalface.studies.sweep import SweepOutcome, run_sweep
from coalface.studies.tables import write_tables

__all__ = ["Study", "SweepOutcome", "run_sweep", "write_report_of"]


def write_report_of(folder: str | os.PathLike[str]) -> Path:
    r"""Write the tables, figures and page of a sweep folder or a folder of tables; return the path of the page.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = run_sweep(Study.from_toml('data = ["iris"]\npermutations = 2\n[lines.coal]'), folder)
    ...     page = write_report_of(folder)
    ...     page.name, "<svg" in page.read_text(encoding="utf-8")
    ('report.html', True)
    """
    place = Path(folder)
    if (place / FILE).is_file():
        write_tables(collect_results(Results(place)), place)
    return write_report(place)
