"""The command line: a module per group of verbs; what they do lives in the library.

Nothing heavy is imported before a verb runs, so that ``coalface --help`` is quick.
"""

from coalface.cli.entry import main

__all__ = ["main"]
