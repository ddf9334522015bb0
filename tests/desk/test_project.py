"""A project is made of files that people have, and says in one line what is wrong with them."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from coalface import Abstain, Audits, Coal, CoalClassifier, OnlineModel
from coalface.desk.project.project import Project
from coalface.desk.project.settings_file import settings_text, write_settings
from coalface.errors import CoalfaceError, FileFormatError, InputError, UnknownIdError
from coalface.learner.parameters import rule_of
from coalface.learner.state import settings_of

LABELS = ["cat", "dog", "cow"]
RECORDS = [{"id": "a", "text": "one two"}, {"id": "b", "text": "two three"}, {"id": "c", "text": ""}]


def test_the_order_and_the_settings_are_kept(tmp_path):
    levels = [{"name": "right", "cost": 0, "anchor": 'the "same" thing \\ ☺ 🙂'}, {"name": "wrong", "cost": 3}]
    made = Project.create(
        tmp_path / "p",
        RECORDS,
        LABELS,
        levels=levels,
        budget={"costs": 10, "price_per_cost": 0.5},
        seed=3,
        title="Tiere\x7f",
    )
    again = Project.open(tmp_path / "p")
    assert again.title == "Tiere\x7f"
    assert again.scale == made.scale
    assert again.levels[0].anchor == 'the "same" thing \\ ☺ 🙂'
    assert again.cost_bounds == (0.0, 3.0)
    assert again.limits == made.limits
    assert again.limits.budget == {"costs": 10.0}
    assert sorted(again.pool.order) == [0, 1, 2]
    assert again.new_learner().random_state == 3


def test_the_same_examples_come_from_any_file(tmp_path):
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    (tmp_path / "e.csv").write_text("id,text\na,one two\nb,two three\nc,\n")
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(RECORDS), tmp_path / "e.parquet")
    rows = []
    for number, source in enumerate([RECORDS, *(tmp_path / f"e.{end}" for end in ("jsonl", "csv", "parquet"))]):
        pool = Project.create(tmp_path / f"p{number}", source, LABELS).pool
        assert [pool.example_id(place) for place in range(3)] == ["a", "b", "c"]
        assert pool.content(1) == {"kind": "text", "text": "two three"}
        rows.append(pool.rows(np.arange(3)).toarray())
    assert rows[0].shape == (3, pool.width)
    assert all(np.array_equal(rows[0], other) for other in rows[1:])
    lengths = (rows[0] ** 2).sum(axis=1)
    assert lengths == pytest.approx([1, 1, 0])
    assert (rows[0][0] > 0).sum() == 3 + 12  # two words, their pair, and the letters in each word
    assert ((rows[0][0] > 0) & (rows[0][1] > 0)).sum() == 1 + 6  # they share a word and its letters


def test_whole_numbers_of_a_csv_file_stay_whole(tmp_path):
    cells = {"size": "20", "weight": "2.5", "far": "-7", "large": "9007199254740993", "none": "", "kind of": "red"}
    digits = "9" * 5000  # more than Python will read as a whole number
    (tmp_path / "e.csv").write_text(",".join(cells) + ",more\n" + ",".join(cells.values()) + f",{digits}\n")
    pool = Project.create(tmp_path / "p", tmp_path / "e.csv", LABELS).pool
    shown = {name: "" if cell is None else str(cell) for name, cell in pool.content(0)["cells"].items()}
    assert shown == {**cells, "more": ""}
    same = [{"size": 20.0, "weight": 2.5, "far": -7.0, "large": 2.0**53, "kind of": "red"}]
    others = Project.create(tmp_path / "q", same, LABELS).pool
    assert np.array_equal(pool.rows(np.arange(1)).toarray(), others.rows(np.arange(1)).toarray())


def test_tables_have_numbers_and_categories(tmp_path):
    records = [
        {"id": 1, "size": 2.5, "kind of": "red", "note": "very large thing"},
        {"id": 2, "size": 4, "kind of": None},
    ]
    pool = Project.create(tmp_path / "p", records, LABELS).pool
    assert pool.content(0)["kind"] == "table"
    one, two = pool.rows(np.arange(2)).toarray()
    groups = pool.encoder.groups
    assert [row[slice(*groups["size"])].tolist() for row in (one, two)] == [[-1.0], [1.0]]
    assert [row[slice(*groups["kind of"])].tolist() for row in (one, two)] == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert [bool(row[slice(*groups["note"])].any()) for row in (one, two)] == [True, False]


def test_images_are_copied_and_seen_by_their_colours(tmp_path):
    from PIL import Image

    (tmp_path / "photos" / "more").mkdir(parents=True)
    Image.new("RGB", (40, 30), (255, 0, 0)).save(tmp_path / "photos" / "red.png")
    Image.new("RGB", (40, 30), (0, 0, 255)).save(tmp_path / "photos" / "more" / "blue.jpg")
    (tmp_path / "photos" / "readme.txt").write_text("no image")
    project = Project.create(tmp_path / "p", tmp_path / "photos", LABELS)
    assert [project.pool.example_id(place) for place in range(2)] == ["more/blue.jpg", "red.png"]
    rows = project.pool.rows(np.arange(2)).toarray().reshape(2, -1, 3)
    assert rows[1].mean(axis=0) == pytest.approx([1, 0, 0])
    assert rows[0].mean(axis=0) == pytest.approx([0, 0, 1], abs=0.02)
    assert project.file_of("red.png").read_bytes() == (tmp_path / "photos" / "red.png").read_bytes()
    assert project.file_of("more/blue.jpg").parent == tmp_path / "p" / "pool" / "images"
    with pytest.raises(UnknownIdError):
        project.file_of("../project.toml")


@pytest.mark.parametrize("end", ["npy", "npz"])
def test_ready_made_vectors_are_taken_as_they_are(tmp_path, end):
    X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]], np.float32)
    if end == "npy":
        np.save(tmp_path / "x.npy", X)
    else:
        save_npz(tmp_path / "x.npz", csr_array(X))
    pool = Project.create(tmp_path / "p", RECORDS, LABELS, features=tmp_path / f"x.{end}").pool
    assert np.array_equal(pool.rows(np.array([2, 0])).toarray(), X[[2, 0]])


def test_examples_without_ids_are_named_by_their_content(tmp_path):
    records = [{"text": "same"}, {"text": "other"}, {"text": "same"}]
    pool = Project.create(tmp_path / "p", records, LABELS).pool
    names = [pool.example_id(place) for place in range(3)]
    assert len(set(names)) == 3
    assert names[2] == f"{names[0]}-2"
    assert [pool.place(name) for name in names] == [0, 1, 2]


def test_a_tree_gives_costs_and_asks_for_the_true_label(tmp_path):
    (tmp_path / "tree.json").write_text('{"cat": "pet", "dog": "pet", "cow": "farm"}')
    project = Project.create(tmp_path / "p", RECORDS, LABELS, tree=tmp_path / "tree.json")
    assert project.true_label
    assert project.costs_of_truth("cow").tolist() == [1.0, 1.0, 0.0]
    assert Project.open(tmp_path / "p").costs_of_truth("cat").tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"examples": [*RECORDS, {"id": "a", "text": "again"}]}, "distinct, got 'a' twice"),
        ({"examples": []}, "at least one example"),
        ({"examples": [{"id": "a", "text": "x"}, {"id": "b", "size": 3}]}, "one kind"),
        ({"examples": "nowhere.jsonl"}, "no file"),
        ({"examples": ["text"]}, "object"),
        ({"labels": ["one"]}, "at least two labels"),
        ({"labels": ["one", "one"]}, "distinct"),
        ({"features": np.zeros((2, 3))}, "a row per example"),
        ({"features": np.zeros((4, 3))}, "a row per example"),
        ({"features": np.full((3, 3), np.nan)}, "finite"),
        ({"tree": {"cat": "pet"}}, "dog"),
        ({"tree": {"cat": "a", "dog": "a", "cow": "a"}, "cost_matrix": np.eye(3)}, "both"),
        ({"cost_matrix": -np.eye(3)}, "non-negative"),
        ({"cost_matrix": 1 - np.eye(3), "cost_bounds": (0.0, 0.5)}, "within the scale"),
        ({"levels": [{"name": "one", "cost": 1}]}, "two levels"),
        ({"cost_bounds": (1.0, 0.0)}, "low < high"),
        ({"budget": {"coins": 3}}, "no 'coins'"),
        ({"budget": {"price": 3}}, "price_per"),
        ({"overlap": 0}, "overlap"),
        ({"learner": {"mellowness": -1}}, "mellowness"),
        ({"learner": {"no_such": 1}}, "no_such"),
        ({"learner": {"abstain": {"cost": None}}}, "abstain cost must be a finite number.*got None"),
        ({"learner": {"mellowness": complex(1, 2)}}, "mellowness must be a number"),
        ({"learner": {"mellowness": float("nan")}}, "mellowness"),
        ({"learner": {"two words": 1}}, "two words"),
        ({"learner": {"model": "shared"}}, "model='shared' needs features of labels, which a project does not have"),
        ({"examples": [{"id": "a", "size": 10**400}]}, "'size' must lie within"),
        ({"examples": [{"id": "a", "size": -1e39}]}, "'size' must lie within"),
        ({"examples": [{"id": "a", "text": "half \ud83d"}]}, "lone surrogate"),
        ({"examples": [{"id": "a", "html": "half \ud83d"}]}, "lone surrogate"),
        ({"examples": [{"id": "a", "size": "half \ud83d"}]}, "lone surrogate"),
        ({"examples": [{"id": "a", "half \ud83d": 1}]}, "lone surrogate"),
        ({"examples": [{"id": "half \ud83d", "text": "x"}]}, "lone surrogate"),
        ({"labels": ["cat", "\ud83d"]}, "lone surrogate"),
        ({"title": "\ud83d"}, "lone surrogate"),
        ({"database": "postgresql://ada:secret@127.0.0.1:1/mail?connect_timeout=1"}, r"ada:\*\*\*@127"),
    ],
    ids=ascii,
)
def test_what_is_wrong_is_said_in_one_line_and_leaves_no_project(tmp_path, change, words):
    given = {"examples": RECORDS, "labels": LABELS, **change}
    with pytest.raises(CoalfaceError, match=words) as caught:
        Project.create(tmp_path / "p", **given)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["e.jsonl", "e.csv", "labels.txt"])
def test_a_file_that_is_not_in_utf8_is_named(tmp_path, name):
    text = '{"text": "Grüße"}\n' if name == "e.jsonl" else 'id,text\n1,"Grüße"\n'
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    given = (RECORDS, tmp_path / name) if name == "labels.txt" else (tmp_path / name, LABELS)
    with pytest.raises(FileFormatError, match=f"{name}(, line \\d: text)? must be (text in )?UTF-8"):
        Project.create(tmp_path / "p", *given)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_settings_of_the_learner_are_kept_as_they_were_given(tmp_path):
    rule = {"alike": None, "warm_up": np.int64(7)}
    learner = {"rule": rule, "mellowness": np.float32(0.25), "audits": None, "abstain": Abstain(0.5)}
    again = Project.open(Project.create(tmp_path / "p", RECORDS, LABELS, learner=learner).folder).new_learner()
    assert {name: getattr(again, name) for name in learner} == learner | {"abstain": {"cost": 0.5}}


def test_objects_of_a_learner_are_tables_of_the_settings(tmp_path):
    learner = {"rule": Coal(miss_rate=None), "audits": Audits(0.25), "model": OnlineModel(learning_rate=0.1)}
    project = Project.create(tmp_path / "p", RECORDS, LABELS, learner=learner)
    again = Project.open(project.folder).new_learner()
    assert rule_of(again.rule) == learner["rule"]
    assert again.model_.learning_rate == 0.1
    assert settings_of(again) == settings_of(CoalClassifier(LABELS, **learner).begin())


def test_settings_with_a_password_are_for_their_owner(tmp_path):
    write_settings(tmp_path, settings_text({"database": "postgresql://ada:secret@host/mail"}))
    assert (tmp_path / "project.toml").stat().st_mode & 0o777 == 0o600
    project = Project.create(tmp_path / "p", RECORDS, LABELS)
    assert "sqlite" not in repr(project)


def test_a_folder_in_use_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match="new or empty"):
        Project.create(tmp_path, RECORDS, LABELS)
    with pytest.raises(FileFormatError, match="not a project"):
        Project.open(tmp_path)


def test_a_wrong_setting_is_named(tmp_path):
    project = Project.create(tmp_path / "p", RECORDS, LABELS)
    settings = project.folder / "project.toml"
    settings.write_text(settings.read_text().replace("overlap = 1", "overlaps = 1"))
    with pytest.raises(FileFormatError, match="overlaps"):
        Project.open(project.folder)
