"""Commands give the same result block by block as at once, and training goes on after a kill."""

import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from coalface import CoalClassifier, read_dataset
from coalface.cli import main
from coalface.learner.named_learner import NamedLearner
from tests.cli.commands import answered, json_lines, refused, run
from tests.data.streams.files import LABELS, csv_text, jsonl_text, numbered_text, packed, raw_records, vw_text

MODELS = ("online", "auto", "forest", "ridge")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("a.vw", vw_text()),
        ("n.vw", numbered_text()),
        ("a.csv", csv_text()),
        ("a.jsonl", jsonl_text()),
    ):
        Path(name).write_text(text)
        for how in ("gz", "zst"):
            Path(f"{name}.{how}").write_bytes(packed(text, how))
    return tmp_path


def assert_same_model(one, other):
    """Two saved models have the same names and counts, and predict and learn alike, bit by bit."""
    first, second = NamedLearner.load(Path(one)), NamedLearner.load(Path(other))
    assert (first.feature_names, first.width, first.position) == (second.feature_names, second.width, second.position)
    saved, again = first.learner.model_.saved(), second.learner.model_.saved()
    assert saved.keys() == again.keys()
    for name in saved:
        np.testing.assert_array_equal(saved[name], again[name], err_msg=name)


def trained(capsys, command):
    code, _, err = run(capsys, f"train {command}")
    assert code == 0, err


@pytest.mark.parametrize("data", ["a.vw", "a.vw.gz", "a.vw.zst", "a.csv --label kind", "a.csv.zst --label kind"])
def test_blocks_train_the_same_online_model_as_the_whole_file(folder, capsys, data):
    trained(capsys, f"{data} --model whole.coal --cost-model online --no-shuffle")
    trained(capsys, f"{data} --model blocks.coal --cost-model online --no-shuffle --block 33")
    assert_same_model("whole.coal", "blocks.coal")
    name, *options = data.split()
    dataset = read_dataset(name, **({"label": options[1]} if options else {}))
    learner = CoalClassifier(dataset.classes, model="online")
    learner.partial_fit(dataset.X, cost=dataset.cost, candidates=dataset.candidates)
    found = NamedLearner.load(Path("blocks.coal")).learner
    np.testing.assert_array_equal(found.predict_cost(dataset.X), learner.predict_cost(dataset.X))


@pytest.mark.parametrize("model", MODELS)
def test_blocks_train_the_same_model_of_any_kind(folder, capsys, model):
    options = f"--label kind --cost-model {model} --no-shuffle"
    trained(capsys, f"a.csv --model whole.coal {options}")
    trained(capsys, f"a.csv --model blocks.coal {options} --block 33")
    assert_same_model("whole.coal", "blocks.coal")


def test_true_classes_and_numbered_features_are_learned_block_by_block(folder, capsys):
    options = "--cost-model online --reader targets=classes --no-shuffle"
    trained(capsys, f"n.vw --model whole.coal {options}")
    trained(capsys, f"n.vw --model blocks.coal {options} --block 33")
    assert_same_model("whole.coal", "blocks.coal")


@pytest.mark.parametrize("packing", ["", "gz", "zst"])
def test_standard_input_trains_the_same_model(folder, capsys, monkeypatch, packing):
    trained(capsys, "a.vw --model whole.coal --cost-model online --block 50")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed(vw_text(), packing))))
    trained(capsys, "- --format vw --model piped.coal --cost-model online --block 50")
    assert_same_model("whole.coal", "piped.coal")


@pytest.mark.parametrize("data", ["a.vw", "a.csv --label kind", "a.jsonl --label kind", "a.jsonl.zst --label kind"])
def test_predictions_do_not_depend_on_blocks(folder, capsys, data):
    trained(capsys, f"{data} --model m.coal")
    whole = run(capsys, f"predict m.coal {data} --costs")
    assert whole[0] == 0
    assert len(json_lines(whole[1])) == 230
    assert run(capsys, f"predict m.coal {data} --costs --block 7") == whole


def test_predictions_come_before_the_input_ends(folder, capsys):
    trained(capsys, "a.vw --model m.coal --cost-model online")
    command = [sys.executable, "-m", "coalface", "predict", "m.coal", "-", "--format", "vw", "--block", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        for row in range(3):
            process.stdin.write("|w a:3\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"row": row, "label": LABELS[0]}
        process.stdin.close()
    assert process.returncode == 0


def test_questions_and_answers_do_not_depend_on_blocks(folder, capsys):
    models = ["one.coal", "two.coal"]
    for model, block in zip(models, ("", "--block 19"), strict=True):
        trained(capsys, f"--classes {','.join(LABELS)} --model {model} --cost-model online --mellowness 0.01")
        for _ in range(2):
            code, out, err = run(capsys, f"ask {model} a.vw {block}")
            assert code == 0, err
            Path(f"{model}.jsonl").write_text("".join(answered(json_lines(out))[::-1]))
            assert run(capsys, f"tell {model} {model}.jsonl {block}")[0] == 0
    one, two = (json_lines(Path(f"{model}.jsonl").read_text()) for model in models)
    for line in (*one, *two):
        if line.get("candidates") == LABELS:  # as if none were listed, which depends on the other lines of a block
            del line["candidates"]
    assert one == two
    assert_same_model(*models)


def test_a_round_that_is_told_twice_is_refused_also_in_another_block(folder, capsys):
    trained(capsys, f"--classes {','.join(LABELS)} --model m.coal")
    before = Path("m.coal").read_bytes()
    lines = [json.dumps({"round": number, "ask": []}) + "\n" for number in (1, 2, 3, 4, 2)]
    Path("rounds.jsonl").write_text("".join(lines))
    assert "line 5: round 2 must appear once" in refused(capsys, "tell m.coal rounds.jsonl --block 2")
    assert Path("m.coal").read_bytes() == before


def test_answers_come_compressed_too(folder, capsys):
    trained(capsys, f"--classes {','.join(LABELS)} --model m.coal")
    Path("rounds.jsonl.zst").write_bytes(packed('{"round": 1, "ask": []}\n', "zst"))
    assert run(capsys, "tell m.coal rounds.jsonl.zst")[0] == 0


@pytest.mark.parametrize("batch", [1, 10])
def test_a_streamed_simulation_is_the_same_as_one_in_order_without_a_test_split(folder, capsys, batch):
    options = f"--batch {batch} --test a.csv --label kind --json --cost-model online"
    _, whole, _ = run(capsys, f"simulate a.csv {options} --save whole.coal --no-shuffle --test-fraction 0")
    code, streamed, err = run(capsys, f"simulate a.csv {options} --save blocks.coal --stream --block 47")
    assert code == 0, err
    curves = [json.loads(text) for text in (whole, streamed)]
    for curve in curves:
        del curve["seconds"]
    assert curves[0] == curves[1]
    assert_same_model("whole.coal", "blocks.coal")


def test_a_streamed_simulation_of_words_finds_the_test_features_by_name(folder, capsys):
    options = "--json --cost-model online"
    Path("full.vw").write_text(
        "".join(
            line
            for line in vw_text().splitlines(True)
            if "refund" in line and all(part.count(":") for part in line.split(" |")[0].split())
        )
    )
    _, whole, _ = run(capsys, f"simulate a.vw --test full.vw {options} --no-shuffle")
    code, streamed, err = run(capsys, f"simulate a.vw --test full.vw {options} --stream --block 20")
    assert code == 0, err
    assert json.loads(streamed)["test_cost"] == json.loads(whole)["test_cost"]


def test_a_later_label_names_the_option_that_helps(folder, capsys):
    Path("late.csv").write_text("x,kind\n" + "1,cat\n2,dog\n" * 3 + "3,cow\n")
    line = refused(capsys, "train late.csv --label kind --model m.coal --block 4")
    assert "late.csv, line 8" in line
    assert line.endswith("On the command line: --classes.\n")
    assert not Path("m.coal").exists()
    trained(capsys, "late.csv --label kind --model m.coal --block 4 --classes cat,cow,dog --no-shuffle")
    trained(capsys, "late.csv --label kind --model whole.coal --block 100 --no-shuffle")
    assert_same_model("whole.coal", "m.coal")


# -- the order of rows ------------------------------------------------------------------------------------------------


def test_rows_are_learned_in_a_random_order_of_the_seed(folder, capsys):
    for name, options in (("one", ""), ("again", ""), ("other", "--seed 1"), ("ordered", "--no-shuffle")):
        trained(capsys, f"a.csv --label kind --cost-model online --model {name}.coal {options}")
    assert_same_model("one.coal", "again.coal")
    weights = {
        name: NamedLearner.load(Path(f"{name}.coal")).learner.predict_cost(np.ones((1, 3))).tobytes()
        for name in ("one", "other", "ordered")
    }
    assert len(set(weights.values())) == 3


def sorted_csv():
    header, *rows = csv_text().splitlines()
    return "\n".join([header, *sorted(rows, key=lambda row: row.rpartition(",")[2])])


def test_a_sorted_file_that_is_one_block_is_learned_as_well_as_a_shuffled_one(folder, capsys):
    Path("sorted.csv").write_text(sorted_csv())
    cost = {}
    for name in ("a", "sorted", "sorted --no-shuffle"):
        file, *options = name.split()
        costs = []
        for seed in range(5):
            how = f"--cost-model online --model m{seed}.coal --seed {seed} {' '.join(options)}"
            Path(f"m{seed}.coal").unlink(missing_ok=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                trained(capsys, f"{file}.csv --label kind {how}")
            costs.append(json.loads(run(capsys, f"evaluate m{seed}.coal a.csv --label kind --json")[1])["cost"]["mean"])
        cost[name] = sum(costs) / len(costs)
    assert cost["sorted"] < cost["a"] + 0.03
    assert cost["sorted --no-shuffle"] > cost["a"] + 0.1


def test_long_runs_of_a_label_are_one_warning_with_their_length_and_the_remedy(folder, capsys):
    Path("sorted.csv").write_text(sorted_csv())
    longest = max(line.count(label) for label in LABELS for line in [sorted_csv()])
    command = "train sorted.csv --label kind --classes billing,other,refund --model m.coal"
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, _, err = run(capsys, f"{command} --block 20")
    assert code == 0, err
    (line,) = [line for line in err.splitlines() if "in a row" in line]
    label = re.search("the label '(.+)', so the learner forgets the other labels meanwhile. Shuffle the rows", line)[1]
    assert 20 <= int(re.search(r"sorted.csv has (\d+) rows in a row", line)[1]) <= longest
    assert label in LABELS
    assert line.endswith("or read more rows at a time. On the command line: --block.")


@pytest.mark.parametrize(
    "data", ["sorted.csv", "a.csv --block 20 --classes billing,other,refund", "a.csv --no-shuffle"]
)
def test_no_long_runs_are_no_warning(folder, capsys, data):
    Path("sorted.csv").write_text(sorted_csv())
    code, _, err = run(capsys, f"train {data} --label kind --model m.coal")  # where warnings are errors
    assert (code, "in a row" in err) == (0, False)


# -- checkpoints ------------------------------------------------------------------------------------------------------

CHECKPOINTED = {
    "a.vw": "--cost-model online",
    "a.vw.gz": "--cost-model online",
    "a.csv": "--label kind",
    "a.csv.zst": "--label kind",
    "a.jsonl": "--label kind --cost-model online",
}


class Stopped(BaseException):
    """Ends a command as a kill would, after it has saved."""


def stop_after_saves(monkeypatch, saves, command):
    """Run a command that ends right after so many saves."""
    save, count = NamedLearner.save, [0]

    def counted(self, path):
        save(self, path)
        count[0] += 1
        if count[0] == saves:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(NamedLearner, "save", counted)
        with pytest.raises(Stopped):
            main(command.split())


@pytest.mark.parametrize("data", CHECKPOINTED)
def test_training_goes_on_after_a_checkpoint(folder, capsys, monkeypatch, data):
    command = f"train {data} {CHECKPOINTED[data]} --block 50 --checkpoint-every 30 --resume"
    assert run(capsys, f"{command} --model at_once.coal")[0] == 0
    stop_after_saves(monkeypatch, 2, f"{command} --model m.coal")
    assert NamedLearner.load(Path("m.coal")).position.rows == 80
    assert run(capsys, f"{command} --model m.coal")[0] == 0
    assert_same_model("at_once.coal", "m.coal")
    assert "m.coal has no checkpoint: it is finished" in refused(capsys, f"{command} --model m.coal")


def test_training_from_parquet_goes_on_after_a_checkpoint(folder, capsys, monkeypatch):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(list(raw_records())), "a.parquet", row_group_size=64)
    command = "train a.parquet --label kind --cost-model online --block 50 --checkpoint-every 30 --resume"
    assert run(capsys, f"{command} --model at_once.coal")[0] == 0
    stop_after_saves(monkeypatch, 3, f"{command} --model m.coal")
    parquet.write_table(pa.Table.from_pylist(list(raw_records(229))), "other.parquet")
    assert "got another file" in refused(capsys, f"{command} --model m.coal".replace("a.parquet", "other.parquet"))
    assert run(capsys, f"{command} --model m.coal")[0] == 0
    assert_same_model("at_once.coal", "m.coal")


def test_another_file_or_other_settings_are_refused(folder, capsys, monkeypatch):
    command = "train a.csv --label kind --block 50 --checkpoint-every 30 --model m.coal"
    stop_after_saves(monkeypatch, 2, f"{command} --seed 3")
    Path("other.csv").write_text(csv_text().replace("1", "2", 1))
    assert "got another file" in refused(capsys, f"{command} --resume".replace("a.csv", "other.csv"))
    Path("short.csv").write_text(csv_text()[:300])
    assert "got another file" in refused(capsys, f"{command} --resume".replace("a.csv", "short.csv"))
    assert "--seed must be as the training began, 3, got 4" in refused(capsys, f"{command} --resume --seed 4")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, _, err = run(capsys, "train a.csv --label kind --model m.coal --continue")
    assert code == 0
    assert "m.coal has learned only 80 rows of its data so far. Pass --resume" in err


def test_a_file_that_has_grown_is_still_the_same(folder, capsys, monkeypatch):
    command = "train log.csv --label kind --block 50 --checkpoint-every 30 --model m.coal --resume --no-shuffle"
    lines = csv_text().splitlines(keepends=True)
    Path("log.csv").write_text("".join(lines[:101]))
    stop_after_saves(monkeypatch, 2, command)
    Path("log.csv").write_text(csv_text())
    assert run(capsys, command)[0] == 0
    trained(capsys, "a.csv --label kind --block 50 --model whole.coal --no-shuffle")
    assert_same_model("whole.coal", "m.coal")


KILLS = int(os.environ.get("COALFACE_KILLS", "3"))


def train_slowly(command):
    """Train with checkpoints in a process of its own, until it is killed; the lives together do not reach the end."""
    save, saved = NamedLearner.save, []

    def slow(self, path):
        save(self, path)
        saved.append(path)
        time.sleep(0.02 if len(saved) < 60 // KILLS else 600)

    NamedLearner.save = slow
    main(command.split())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system cannot kill")
@pytest.mark.parametrize("shuffle", ["", "--no-shuffle"])
def test_killed_again_and_again_training_gives_the_same_model(folder, capsys, shuffle):
    random = np.random.default_rng(0)
    Path("long.vw").write_text(vw_text(3000))
    options = f"long.vw --cost-model online --block 100 {shuffle}"
    trained(capsys, f"{options} --model at_once.coal {'' if shuffle else '--checkpoint-every 40'}")
    command = f"train {options} --checkpoint-every 40 --resume --model"
    context = multiprocessing.get_context("fork")
    done = [0]
    for _ in range(KILLS):
        process = context.Process(target=train_slowly, args=(f"{command} m.coal",))
        process.start()
        while process.is_alive() and _rows_done("m.coal") <= done[-1]:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.1))
        process.kill()
        process.join()
        done.append(_rows_done("m.coal"))
    assert done == sorted(set(done))
    assert done[-1] < 3000
    assert run(capsys, f"{command} m.coal")[0] == 0
    assert_same_model("at_once.coal", "m.coal")


def _rows_done(model):
    if not Path(model).exists():
        return 0
    position = NamedLearner.load(Path(model)).position
    return 3000 if position is None else position.rows


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("train - --model m.coal", "Standard input must be one of vw, csv, jsonl"),
        ("train --classes a,b --model m.coal --resume", "--resume and --checkpoint-every need DATA"),
        ("train a.csv --label kind --model m.coal --block 0", "--block"),
        ("predict whole.coal - --format npz", "Standard input must be one of vw, csv, jsonl, got format 'npz'"),
    ],
)
def test_what_cannot_be_streamed_is_refused(folder, capsys, command, rule):
    trained(capsys, "a.csv --label kind --model whole.coal")
    assert rule in refused(capsys, command)


# -- memory -----------------------------------------------------------------------------------------------------------

MEASURE = """
import sys
from pathlib import Path
from coalface.cli import main
def high():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
assert main(sys.argv[2].split()) == 0
Path("/proc/self/clear_refs").write_text("5")
before = high()
assert main(sys.argv[1].split()) == 0
print(high() - before, file=sys.stderr)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the system does not say how much memory is used"
)
@pytest.mark.parametrize(("make", "name", "more"), [(vw_text, "m.vw", ""), (csv_text, "m.csv", " --label kind")])
def test_six_times_as_many_rows_take_no_more_memory(folder, make, name, more):
    used = []
    text = make(20_000)
    header, body = (text.split("\n", 1)[0] + "\n", text.split("\n", 1)[1]) if name == "m.csv" else ("", text)
    for times in (1, 6):
        Path(name).write_text(header + body * times)
        commands = [f"train {name}{more} --cost-model online --block 2000 --model {end}.coal" for end in ("a", "b")]
        Path(f"first_{name}").write_text(header + "".join(body.splitlines(keepends=True)[:2000]))
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, commands[0], commands[1].replace(f"train {name}", f"train first_{name}")],
            capture_output=True,
            text=True,
            check=True,
        )
        used.append(int(done.stderr.splitlines()[-1]))
        for end in ("a", "b"):
            Path(f"{end}.coal").unlink()
    assert used[1] < used[0] + 4000, used  # kB; 100,000 more rows of numbers would take at least 5,500
