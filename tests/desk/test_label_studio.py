"""coalface beside Label Studio and Hugging Face: an ML backend, and files that go there and come back."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from coalface.desk.project.label_studio import task_costs
from coalface.desk.project.project import Project
from coalface.desk.project.sources import read_costs
from coalface.desk.service.desk import Desk
from coalface.errors import FileFormatError, InputError
from tests.desk.projects import LABELS, same_bits, small_project, work
from tests.desk.serving import client_of, served
from tests.desk.test_pool_changes import replayed

CONFIG = (
    '<View><Text name="body" value="$message"/><Choices name="team" toName="body">'
    '<Choice value="refund"/><Choice value="delivery"/><Choice value="other"/></Choices></View>'
)
PLACE = "/projects/mail/label-studio"


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail", n=30))
    yield found
    found.close()


def event(number, label, action="ANNOTATION_CREATED", version="1", text="my parcel is late"):
    value = {"from_name": "team", "to_name": "body", "type": "choices", "value": {"choices": [label]}}
    annotation = {"id": number, "result": [value], "updated_at": version, "completed_by": 3}
    return {
        "action": action,
        "annotation": annotation,
        "task": {"id": number + 100, "data": {"message": text}},
        "project": {"id": 1, "label_config": CONFIG},
    }


def test_label_studio_predicts_learns_corrects_and_takes_back(desk):
    with served(desk) as address, client_of(address) as studio:
        studio.auth = ("label-studio", "coal_eve")
        assert studio.get(f"{PLACE}/health").json()["status"] == "UP"
        assert studio.get("/label-studio/health").status_code == 200  # the only project needs no name
        version = studio.post(f"{PLACE}/setup", json={"project": "1.2", "schema": CONFIG}).json()["model_version"]
        body = {"tasks": [{"id": 107, "data": {"message": "where is my parcel"}}], "label_config": CONFIG}
        (found,) = studio.post(f"{PLACE}/predict", json=body).json()["results"]
        assert found["result"][0]["from_name"] == "team"
        assert found["result"][0]["to_name"] == "body"
        assert found["result"][0]["value"]["choices"][0] in LABELS
        assert 0.0 <= found["score"] <= 1.0
        assert found["model_version"] == version
        assert studio.post(f"{PLACE}/webhook", json=event(7, "refund")).json()["learned"] == 1
        assert studio.post(f"{PLACE}/webhook", json=event(7, "refund")).json()["learned"] == 0  # sent again
        assert desk.reviews.about("task-107").costs == {"refund": 0.0, "delivery": 1.0, "other": 1.0}
        updated = event(7, "other", "ANNOTATION_UPDATED", "2")
        assert studio.post(f"{PLACE}/webhook", json=updated).json()["learned"] == 1
        desk.settle()
        assert desk.reviews.about("task-107").costs["other"] == 0.0
        gone = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 7}], "project": {"id": 1}}
        assert studio.post(f"{PLACE}/webhook", json=gone).json()["withdrawn"] == 1
        assert studio.post(f"{PLACE}/webhook", json=gone).json()["withdrawn"] == 0
        assert desk.reviews.about("task-107").costs == {}
        assert studio.post(f"{PLACE}/webhook", json={"action": "PROJECT_UPDATED"}).status_code == 200
        settled = [one.body for one in desk.events(limit=1000) if one.kind == "settled"]
        assert [one["costs"]["other"] if one.get("costs") else None for one in settled] == [1.0, 0.0, None]
        assert same_bits(replayed(desk), desk.state.model.learner)


def test_a_model_that_learned_from_label_studio_predicts_its_labels(desk):
    with served(desk) as address, client_of(address) as studio:
        studio.auth = ("any", "coal_eve")
        for number in range(40):
            label, text = ("refund", "money refund card") if number % 2 else ("delivery", "parcel late where")
            studio.post(f"{PLACE}/webhook", json=event(number, label, text=f"{text} {number}")).raise_for_status()
        texts = ["refund my money", "where is the late parcel"]
        tasks = [{"id": 900 + i, "data": {"message": text}} for i, text in enumerate(texts)]
        results = studio.post(f"{PLACE}/predict", json={"tasks": tasks, "label_config": CONFIG}).json()["results"]
        assert [one["result"][0]["value"]["choices"] for one in results] == [["refund"], ["delivery"]]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("setup", {"schema": CONFIG.replace("other", "lawyer")}, 422),
        ("setup", {"schema": "<View"}, 422),
        ("setup", {"schema": "<!DOCTYPE x><View/>"}, 422),
        ("predict", {"tasks": "all"}, 422),
        ("predict", {"tasks": [{"id": 1}]}, 422),
        ("webhook", {"action": "ANNOTATION_CREATED"}, 422),
        ("webhook", event(1, "lawyer"), 422),
    ],
    ids=["another label", "no xml", "a doctype", "no tasks", "no data", "no annotation", "unknown label"],
)
def test_wrong_requests_change_nothing(desk, path, body, status):
    with served(desk) as address, client_of(address) as studio:
        studio.auth = ("any", "coal_eve")
        assert studio.post(f"{PLACE}/{path}", json=body).status_code == status
    assert [one for one in desk.events(limit=100) if one.kind in ("settled", "added")] == []


def test_only_an_engineer_with_a_token_is_a_label_studio(desk):
    with served(desk) as address, client_of(address) as studio:
        assert studio.get(f"{PLACE}/health").status_code == 401
        assert studio.get(f"{PLACE}/health", headers={"authorization": "Basic !"}).status_code == 401
        studio.auth = ("any", "coal_ann")
        assert studio.post(f"{PLACE}/predict", json={"tasks": []}).status_code == 403


def test_tasks_go_to_label_studio_and_come_back(desk, tmp_path):
    work(desk, n=9)
    (tmp_path / "tasks.json").write_bytes(b"".join(desk.export("label-studio")))
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert len(tasks) == 30
    exported = {one["id"]: one["costs"] for one in map(json.loads, desk.export("jsonl")) if one["finished"]}
    chosen = {
        one["data"]["id"]: one["annotations"][0]["result"][0]["value"]["choices"] for one in tasks if one["annotations"]
    }
    assert {name: min(costs, key=costs.get) for name, costs in exported.items()} == {
        name: labels[0] for name, labels in chosen.items()
    }
    twin = Desk(Project.create(tmp_path / "twin", tmp_path / "tasks.json", LABELS))
    twin.curation.import_costs(read_costs(tmp_path / "tasks.json"))
    assert {one["id"]: one["costs"] for one in map(json.loads, twin.export("jsonl"))} == exported
    assert twin.project.pool.content(twin.project.pool.place("mail-3")) == desk.project.pool.content(
        desk.project.pool.place("mail-3")
    )
    twin.close()


def test_annotations_of_others_are_labels_and_cancelled_ones_are_none():
    part = {"type": "choices", "value": {"choices": ["refund"]}}
    tasks = [
        {"id": 1, "data": {"text": "a"}, "annotations": [{"result": [part]}]},
        {"id": 2, "data": {"text": "b"}, "annotations": [{"result": [part], "was_cancelled": True}]},
        {"id": 3, "data": {"text": "c", "id": "own"}, "annotations": [{"result": []}, {"result": [part]}]},
    ]
    assert list(task_costs(tasks)) == [{"id": "task-1", "label": "refund"}, {"id": "own", "label": "refund"}]


def test_several_choices_in_a_file_are_refused_instead_of_taking_the_first():
    part = {"type": "choices", "value": {"choices": ["refund", "other", "refund"]}}
    with pytest.raises(InputError, match=r"Task 'task-1' must have one choice, got 2: 'refund', 'other'\."):
        list(task_costs([{"id": 1, "data": {"text": "a"}, "annotations": [{"result": [part]}]}]))


def test_a_dataset_goes_to_hugging_face_and_comes_back(desk, tmp_path):
    work(desk, n=9)
    (tmp_path / "mail.parquet").write_bytes(b"".join(desk.export("parquet")))
    table = parquet.read_table(tmp_path / "mail.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["label"] == {"names": LABELS, "_type": "ClassLabel"}
    assert table.schema.field("label").type == pa.int64()
    exported = {one["id"]: one["costs"] for one in map(json.loads, desk.export("jsonl")) if one["finished"]}
    twin = Desk(Project.create(tmp_path / "twin", table.select(["id", "text"]).to_pylist(), LABELS))
    twin.curation.import_costs(read_costs(tmp_path / "mail.parquet"))
    back = {one["id"]: one["costs"] for one in map(json.loads, twin.export("jsonl"))}
    known = {
        name: {label: cost for label, cost in costs.items() if cost is not None} for name, costs in exported.items()
    }
    assert back == known
    twin.close()


def test_a_saved_dataset_with_class_labels_is_a_pool(tmp_path):
    folder = tmp_path / "saved"
    folder.mkdir()
    table = pa.table({"id": ["a", "b", "c"], "text": ["hello", "late parcel", "money"], "team": [1, 0, -1]})
    with (
        pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as out,
    ):
        out.write_table(table)
    info = {"features": {"team": {"names": ["post", "bank"], "_type": "ClassLabel"}}}
    (folder / "dataset_info.json").write_text(json.dumps(info))
    project = Project.create(tmp_path / "p", folder, label="team")
    assert (project.labels, len(project.pool)) == (["bank", "post"], 3)
    assert read_costs(folder, label="team") == [{"id": "a", "label": "bank"}, {"id": "b", "label": "post"}]
    assert np.isfinite(project.pool.rows(np.arange(3)).data).all()


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"data.arrow": ""}, "must hold dataset_info.json beside its .arrow files"),
        ({"dataset_info.json": "{}"}, "must hold .arrow files beside dataset_info.json, got none"),
        ({"dataset_info.json": "{", "data.arrow": ""}, "dataset_info.json must be JSON"),
        ({"dataset_info.json": "[]", "data.arrow": ""}, "dataset_info.json must be a JSON object, got"),
        (
            {"dataset_info.json": "{}", "a.arrow": "", "state.json": '{"_data_files": [{"filename": "b.arrow"}]}'},
            "must hold b.arrow, which its state.json lists",
        ),
        ({"dataset_dict.json": '{"splits": ["train", "test"]}'}, r"got all of them \(train, test\). Name a"),
    ],
)
def test_a_saved_dataset_says_which_file_is_missing(tmp_path, files, why):
    folder = tmp_path / "saved"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(FileFormatError, match=why):
        Project.create(tmp_path / "p", folder, LABELS)
    with pytest.raises(FileFormatError, match=why):
        read_costs(folder)


@pytest.mark.parametrize("text", ["{", "{}", '[{"id": 1}]', "[1]"])
def test_other_json_is_refused(tmp_path, text):
    (tmp_path / "tasks.json").write_text(text)
    with pytest.raises((FileFormatError, InputError), match=r"tasks\.json must be"):
        Project.create(tmp_path / "p", tmp_path / "tasks.json", LABELS)


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        (["refund"], "An annotation must be an object"),
        ("refund", "An annotation must be an object"),
        ([{"result": [{"type": "choices", "value": {"choices": "refund"}}]}], "must be a list of labels, got 'refund'"),
    ],
)
def test_annotations_of_another_form_are_refused_in_one_line(tmp_path, annotations, why):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": {"id": "a"}, "annotations": annotations}]))
    with pytest.raises(InputError, match=why):
        read_costs(path)
