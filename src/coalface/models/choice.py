"""Cost models by name, as ``CoalClassifier(model=...)`` and saved files spell them."""

from collections.abc import Mapping
from typing import Any, Literal

from coalface.errors import InputError, shortened
from coalface.models.classes import ClassModel
from coalface.models.committee import CommitteeModel
from coalface.models.contract import CostModel
from coalface.models.forest import ForestModel
from coalface.models.joint import JointModel
from coalface.models.online import OnlineModel
from coalface.models.ridge import RidgeModel
from coalface.models.shared import SharedModel

ModelName = Literal["auto", "online", "ridge", "forest", "classes", "shared", "joint"]
MODELS: dict[str, type[CostModel]] = {
    "auto": CommitteeModel,
    "online": OnlineModel,
    "ridge": RidgeModel,
    "forest": ForestModel,
    "classes": ClassModel,
    "shared": SharedModel,
    "joint": JointModel,
}
_PRODUCTS = {"ExactModel": "coalface.paper"}  # what to import before such a model can be loaded


def model_of(model: Any) -> CostModel:
    """The cost model that a name, a description from a saved file, or a ``CostModel`` itself stands for.

    >>> model_of("ridge"), model_of({"kind": "RidgeModel", "regularization": 2.0})
    (RidgeModel(), RidgeModel(regularization=2.0))
    >>> model_of({"kind": "online", "learning_rate": 0.1})
    OnlineModel(learning_rate=0.1)
    """
    if isinstance(model, CostModel):
        return model
    if isinstance(model, str) and model in MODELS:
        return MODELS[model]()
    kinds = {**MODELS, **CostModel.kinds}
    if isinstance(model, Mapping) and model.get("kind") in kinds:
        return _described(kinds[model["kind"]], {name: model[name] for name in model if name != "kind"})
    raise InputError(f"model must be one of {', '.join(map(repr, MODELS))} or a CostModel, got {shortened(model)}.")


def _described(kind: type[CostModel], params: dict[str, Any]) -> CostModel:
    known = kind().get_params(deep=False)
    for name in params:
        if name not in known:
            has = f"It has {', '.join(known)}" if known else "It has none"
            raise InputError(f"model {kind.__name__} has no parameter {name!r}. {has}.")
    return kind(**params)


def check_kind(kind: str) -> None:
    """Raise an InputError if a file names a kind of model that is not imported."""
    if kind in CostModel.kinds:
        return
    if kind in _PRODUCTS:
        raise InputError(f"its cost model is of the kind {kind}, import {_PRODUCTS[kind]} first")
    raise InputError(f"it has a cost model of its user, pass model={kind}(...)")


def described_model(model: CostModel) -> dict[str, Any]:
    """A model with its parameters as JSON values, for a file.

    >>> described_model(RidgeModel(regularization=2.0))
    {'kind': 'RidgeModel', 'fit_intercept': True, 'kernel': 'linear', 'n_components': 500, 'regularization': 2.0}
    """
    return {"kind": type(model).__name__, **model.plain()}
