"""Reports of made findings, and the tables that they write."""

import csv

from coalface.studies.report.pages import write_report
from coalface.studies.tables import write_tables


def report_of(study, folder):
    """The path of the page."""
    write_tables(study, folder)
    return write_report(folder)


def rows_of(path):
    """The rows of a CSV file by their headings."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
