"""The command line: one module per group of verbs; the library does the work.

A verb imports heavy modules only when it runs, so ``coalface --help`` is quick.
"""

from coalface.cli.entry import main

__all__ = ["main"]
