"""Kinds of models register themselves, and a file that names another kind says what to do."""

import subprocess
import sys

import pytest

from coalface import CoalClassifier, CostModel
from coalface.errors import FileFormatError
from coalface.models.choice import MODELS, model_of
from coalface.paper import ExactModel


def test_kinds_of_this_package_register_themselves_and_others_do_not():
    class OfItsUser(ExactModel):
        pass

    assert CostModel.kinds["ExactModel"] is ExactModel
    assert all(CostModel.kinds[type(model_of(name)).__name__] is kind for name, kind in MODELS.items())
    assert "OfItsUser" not in CostModel.kinds


def test_a_file_of_a_kind_that_is_not_imported_says_which_package_has_it(tmp_path, monkeypatch):
    CoalClassifier(["a", "b"], model=ExactModel()).begin().save(tmp_path / "model")
    assert isinstance(CoalClassifier.load(tmp_path / "model").model_, ExactModel)
    monkeypatch.delitem(CostModel.kinds, "ExactModel")
    with pytest.raises(FileFormatError, match=r"of the kind ExactModel, import coalface\.paper first"):
        CoalClassifier.load(tmp_path / "model")


def test_the_models_import_nothing_of_the_paper():
    script = "import sys, coalface.models.choice; print([name for name in sys.modules if 'coalface.paper' in name])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "[]"
