"""docs/tagging.md explains every parameter."""

from pathlib import Path

from coalface.structured import SequenceTagger

PAGE = (Path(__file__).parents[2] / "docs" / "tagging.md").read_text(encoding="utf-8")


def test_every_parameter_is_explained():
    for name in SequenceTagger().get_params():
        assert f"| `{name}` |" in PAGE, name
