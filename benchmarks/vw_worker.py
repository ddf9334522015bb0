"""The process in which Vowpal Wabbit is timed: it takes arguments as JSON and prints seconds as JSON.

VW's driver runs while the workspace is created. The calling thread learns and a second thread reads: ``thread`` seconds
are those of learning alone, ``cpu`` seconds those of both.
"""

import json
import sys
from typing import Any

from vowpalwabbit import Workspace

from benchmarks.machine import peak_bytes, timed


def answer(request: dict[str, Any]) -> dict[str, float]:
    seconds, workspace = timed(lambda: Workspace(arg_list=request["args"]))
    workspace.finish()
    return {"wall": seconds.wall, "cpu": seconds.cpu, "thread": seconds.thread, "peak_bytes": peak_bytes() or 0}


if __name__ == "__main__":
    print(json.dumps(answer(json.loads(sys.argv[1]))), flush=True)
