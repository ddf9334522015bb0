r"""Command lines of Vowpal Wabbit, run by our own learners: ``translate`` their options, then ``run_vw``.

``command_line`` and ``python_lines`` tell how to do the same without VW's options.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "pets.vw")
...     _ = path.write_text("1:0 2:1 | furry purrs\n1:1 2:0 | furry barks\n" * 10)
...     run = run_vw(translate(f"--cs_active 2 --simulation --adax -d {path}".split()))
>>> print(run.summary())
number of examples = 20
average loss = 0.100000
total queries = 14
"""

from coalface.studies.vw_command.equivalents import command_line, python_lines
from coalface.studies.vw_command.learning import Show, VwRun, learn
from coalface.studies.vw_command.output import write_files
from coalface.studies.vw_command.translation import VwCommand, translate

__all__ = ["VwCommand", "VwRun", "command_line", "python_lines", "run_vw", "translate"]


def run_vw(command: VwCommand, show: Show = lambda _: None) -> VwRun:
    """Run a command and write its files; ``show`` gets the lines of progress."""
    run = learn(command, show)
    write_files(run)
    return run
