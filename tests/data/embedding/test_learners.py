"""Learners with sentence embeddings: saved by name and hash, refused with other weights, and on the command line."""

import json
from hashlib import sha256

import numpy as np
import pytest

from coalface import CoalClassifier, Encoder, MemoryLedger
from coalface.cli import main
from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.errors import FileFormatError, InputError
from tests.reference.tiny_bert import write_tiny_bert

TEXTS = ["my parcel is lost", "I want my money back", "where is the parcel", "money please"] * 4
TEAMS = ["post", "money", "post", "money"] * 4


def test_features_minilm_makes_the_vectors_of_texts(minilm_is_tiny):
    learner = CoalClassifier(features="minilm").fit(TEXTS, TEAMS)
    rows = learner.encoder_.transform(TEXTS)
    np.testing.assert_array_equal(rows[:, :12].toarray(), SentenceEmbedder(minilm_is_tiny)(TEXTS))
    np.testing.assert_array_equal(rows[:, 12:].toarray(), Encoder().fit_transform(TEXTS).toarray())
    same = CoalClassifier(features=Encoder(embed="minilm")).fit(TEXTS, TEAMS)
    np.testing.assert_array_equal(learner.predict_cost(TEXTS), same.predict_cost(TEXTS))
    assert "sentence embeddings by minilm" in learner.encoder_.describe()


@pytest.mark.parametrize("features", ["minilm", Encoder(embed="minilm"), SentenceEmbedder()], ids=str)
def test_a_saved_learner_finds_minilm_again(minilm_is_tiny, tmp_path, features):
    learner = CoalClassifier(features=features).fit(TEXTS, TEAMS)
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_cost(TEXTS), learner.predict_cost(TEXTS))
    weights = (minilm_is_tiny / "model.safetensors").read_bytes()
    assert again.encoder_.plain()["embeds"] == {"name": "minilm", "sha256": sha256(weights).hexdigest()}
    ledger = MemoryLedger()
    recorded = CoalClassifier(["post", "money"], features=features).record_to(ledger)
    recorded.tell(TEXTS, [[0.0, 1.0], [1.0, 0.0]] * 8)
    rebuilt = CoalClassifier.from_ledger(ledger)
    np.testing.assert_array_equal(rebuilt.predict_cost(TEXTS), recorded.predict_cost(TEXTS))


def test_loading_without_the_weights_is_one_clear_line(minilm_is_tiny, tmp_path, monkeypatch):
    CoalClassifier(features="minilm").fit(TEXTS, TEAMS).save(tmp_path / "model")
    monkeypatch.setenv("COALFACE_MINILM", str(tmp_path / "nowhere"))
    with pytest.raises(FileFormatError, match=r"nowhere has no model\.safetensors") as caught:
        CoalClassifier.load(tmp_path / "model")
    assert "\n" not in str(caught.value)


def test_another_encoder_is_passed_again_and_must_be_the_same(tiny, tmp_path):
    learner = CoalClassifier(features=SentenceEmbedder(tiny)).fit(TEXTS, TEAMS)
    learner.save(tmp_path / "model")
    with pytest.raises(FileFormatError, match=r"needs the sentence encoder 'tiny'.*Pass features=SentenceEmbedder"):
        CoalClassifier.load(tmp_path / "model")
    other = SentenceEmbedder(write_tiny_bert(tmp_path / "other", seed=1))
    with pytest.raises(FileFormatError, match=r"SHA-256 [0-9a-f]{64}, got 'other' with [0-9a-f]{64}"):
        CoalClassifier.load(tmp_path / "model", features=other)
    again = CoalClassifier.load(tmp_path / "model", features=SentenceEmbedder(tiny))
    np.testing.assert_array_equal(again.predict_cost(TEXTS), learner.predict_cost(TEXTS))


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match=r"features must be 'auto', 'minilm', an Encoder"):
        CoalClassifier(features="maxilm").fit(TEXTS, TEAMS)
    with pytest.raises(InputError, match=r"embed must be 'minilm', the folder of a sentence encoder, or a function"):
        Encoder(embed="maxilm")


def test_the_command_line_trains_and_predicts_with_minilm(minilm_is_tiny, tmp_path, capsys):
    rows = "".join(f"{text},{team}\n" for text, team in zip(TEXTS, TEAMS, strict=True))
    data, model = tmp_path / "tickets.csv", tmp_path / "tickets.coalface"
    data.write_text(f"text,team\n{rows}")
    assert main(["train", str(data), "--label", "team", "--features", "minilm", "--model", str(model)]) == 0
    assert "sentence embeddings by minilm" in capsys.readouterr().err
    new = tmp_path / "new.csv"
    new.write_text("text\nmy parcel is lost\nmoney please\n")
    assert main(["predict", str(model), str(new)]) == 0
    assert [json.loads(line)["label"] for line in capsys.readouterr().out.splitlines()] == ["post", "money"]
    assert main(["train", str(data), "--label", "team", "--features", "x", "--model", str(tmp_path / "m")]) == 2
    assert "--features must be words or minilm" in capsys.readouterr().err


def test_an_empty_model_embeds_the_first_texts_that_ask_reads(minilm_is_tiny, tmp_path):
    model, pool = tmp_path / "tickets.coalface", tmp_path / "pool.csv"
    pool.write_text("id,text\n1,my parcel is lost\n2,money please now\n")
    assert main(["train", "--classes", "post,money", "--features", "minilm", "--model", str(model)]) == 0
    assert main(["ask", str(model), str(pool)]) == 0
    assert CoalClassifier.load(model).encoder_.width == 12 + 2**18


@pytest.mark.parametrize("words", [False, True])
def test_words_may_be_left_out(tiny, tmp_path, words):
    encoder = Encoder(embed=str(tiny), words=words, bits=10).fit(TEXTS)
    assert encoder.groups == {"text": (0, 12), **({"text words": (12, 1036)} if words else {})}
    assert encoder.width == (1036 if words else 12)
    learner = CoalClassifier(features=encoder).fit(TEXTS, TEAMS)
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model", features=SentenceEmbedder(tiny))
    np.testing.assert_array_equal(again.predict_cost(TEXTS), learner.predict_cost(TEXTS))
    assert again.encoder_.words == words
    assert [member.name for member in again.committee_] == (["online"] if words else ["online", "forest", "rbf"])


def test_words_are_left_out_beside_a_function_and_cannot_be_without_vectors():
    encoder = Encoder(embed=lambda texts: np.ones((len(texts), 2)))
    assert not encoder.words
    assert encoder.fit(TEXTS).width == 2
    with pytest.raises(InputError, match="words=False needs embed"):
        Encoder(words=False)


def test_a_labelling_project_has_sentence_embeddings(minilm_is_tiny, tmp_path, monkeypatch, capsys):
    pytest.importorskip("sqlalchemy", reason="labelling projects need coalface[app]")
    (tmp_path / "pool.jsonl").write_text(
        "".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(TEXTS))
    )
    (tmp_path / "labels.txt").write_text("post\nmoney\n")
    arguments = ["--examples", str(tmp_path / "pool.jsonl"), "--labels", str(tmp_path / "labels.txt")]
    assert main(["init", str(tmp_path / "project"), *arguments, "--features", "minilm"]) == 0
    from coalface.desk.project.project import Project

    pool = Project.open(tmp_path / "project").pool
    vectors = SentenceEmbedder(minilm_is_tiny)(TEXTS)
    np.testing.assert_allclose(pool.rows(np.arange(len(TEXTS))).toarray()[:, :12], vectors, atol=1e-6)
    monkeypatch.setenv("COALFACE_MINILM", str(tmp_path / "nowhere"))
    assert main(["init", str(tmp_path / "other"), *arguments, "--features", "minilm"]) == 2
    assert "nowhere has no model.safetensors" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
