"""docs/tagging.md explains every parameter."""

from pathlib import Path

from coalface.learner.classifiers import CoalClassifier
from coalface.structured import SequenceTagger

PAGE = (Path(__file__).parents[2] / "docs" / "tagging.md").read_text(encoding="utf-8")


def test_every_parameter_is_explained_here_or_with_the_policy():
    for name, default in SequenceTagger().get_params().items():
        if name in ("warm_up", "classes", "cost_matrix", "audits") or name not in CoalClassifier().get_params():
            assert f"| `{name}` |" in PAGE or name == "roll_out"
        else:
            assert CoalClassifier().get_params()[name] == default, name


def test_published_means_the_same_for_both():
    tagger, policy = SequenceTagger.as_published().get_params(), CoalClassifier.as_published().get_params()
    for name in set(tagger) & set(policy) - {"warm_up"}:
        assert tagger[name] == policy[name], name
