"""The process that Vowpal Wabbit is timed in: a request as JSON in, seconds as JSON out.

``driver``     its own C++ loop over a file or a cache. The calling thread learns, a second one parses:
               ``thread`` seconds are those of learning alone, ``cpu`` seconds those of both.
``learn``      examples parsed beforehand, then only the calls that learn them.
``predict``    the same for predictions.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pylibvw
from vowpalwabbit import Workspace

from benchmarks.machine import peak_bytes, timed


def answer(request: dict[str, Any]) -> dict[str, float]:
    way, args = request["way"], request["args"]
    if way == "driver":
        seconds, workspace = timed(lambda: Workspace(arg_list=args))
        workspace.finish()
    else:
        workspace = Workspace(arg_list=args)
        examples = [workspace.example(line) for line in Path(request["data"]).read_text().splitlines()]
        for example in examples:
            if not example.setup_done:
                example.setup_example()
        step = pylibvw.vw.learn if way == "learn" else pylibvw.vw.predict
        seconds, _ = timed(lambda: [step(workspace, example) for example in examples])
    return {"wall": seconds.wall, "cpu": seconds.cpu, "thread": seconds.thread, "peak_bytes": peak_bytes() or 0}


if __name__ == "__main__":
    result = answer(json.loads(sys.argv[1]))
    print(json.dumps(result), flush=True)
