"""What ``coalface tell`` prints."""

import json

from tests.cli.commands import answered, json_lines, run


def test_telling_says_first_what_was_learned_now_and_then_what_is_known_in_all(empty_model, capsys):
    lines = answered(json_lines(run(capsys, "ask m.coal new.csv --max-costs 40")[1]))
    n_costs = [len(json.loads(line)["ask"]) for line in lines]
    for first, last in ((0, 30), (30, 50)):
        (empty_model.parent / "answers.jsonl").write_text("".join(lines[first:last]))
        said = run(capsys, "tell m.coal answers.jsonl")[1].splitlines()
        assert said[0] == f"m.coal: learned {sum(n_costs[first:last])} costs from {last - first} examples"
        asked = sum(n > 0 for n in n_costs[:last])
        total = f"{sum(n_costs[:last])} costs in all, on {asked} of {last} examples; next round {last + 1}"
        assert said[1] == total
