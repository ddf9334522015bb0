"""The options of the learner's parameters, made from the one table of them."""

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_values import given, interactions_in, number_or_auto
from coalface.data import Parameter
from coalface.errors import InputError, shortened
from coalface.learner import PARAMETERS

if TYPE_CHECKING:
    from coalface.learner import CoalClassifier
    from coalface.models import CostModel

_TABLE = {parameter.path: parameter for parameter in PARAMETERS}
_OTHERS: Mapping[str, Any] = {  # what compiled code does not read from the settings, or not as it is given
    "random_state": options.SeedIfGiven,
    "cost_bounds": options.CostBounds,
    "abstain.cost": options.AbstainCost,
    "abstain.label": options.AbstainLabel,
    "model": options.CostModel,
    "model.interactions": options.Interactions,
}
_NAMES = {  # of options, where they are not the last part of the path
    "rule.variant": "rule",
    "audits.rate": "audit_rate",
    "audits.by": "audits",
    "abstain.cost": "abstain_cost",
    "abstain.label": "abstain_label",
    "model": "cost_model",
    "model.fit_intercept": "intercept",
    "random_state": "seed",
}


def _name_of(path: str) -> str:
    """The name of the option for a parameter.

    >>> _name_of("audits.rate"), _name_of("rule.warm_up")
    ('audit_rate', 'warm_up')
    """
    return _NAMES.get(path, path.rpartition(".")[2])


TITLES = {  # the names of parameters in errors, and those of their options
    **{parameter.title: _name_of(parameter.path) for parameter in PARAMETERS},
    **{path.replace(".", " "): _name_of(path) for path in _OTHERS},
}


@dataclass(frozen=True)
class LearnerSettings:
    """The learner's parameters that the user gave, by path; those left out have the defaults of CoalClassifier."""

    given: Mapping[str, Any]
    as_published: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the options that were given."""
        return [*(["as_published"] if self.as_published else []), *map(_name_of, self.given)]

    def nested(self) -> dict[str, Any]:
        """What was given, as parameters for ``set_params``.

        >>> LearnerSettings({"mellowness": 0.1, "rule.warm_up": 10}).nested()
        {'mellowness': 0.1, 'rule__warm_up': 10}
        """
        for path, value in self.given.items():
            if path in _TABLE:
                _TABLE[path].checked(value)
        return {path.replace(".", "__"): value for path, value in self.given.items()}

    def parts(self) -> dict[str, Any]:
        """What was given, as parameters of a constructor.

        >>> LearnerSettings({"mellowness": 0.1, "audits.rate": 0.2}).parts()
        {'mellowness': 0.1, 'audits': {'rate': 0.2}}
        """
        found: dict[str, Any] = {}
        for path, value in self.given.items():
            owner, _, name = path.partition(".")
            found[owner] = {**found.get(owner, {}), name: value} if name else value
        return found

    def learner(self, **others: Any) -> "CoalClassifier":
        """A new learner with these settings and other parameters.

        >>> LearnerSettings({"rule.variant": "passive", "model.learning_rate": 0.3}).learner(random_state=1)
        CoalClassifier(model=CommitteeModel(online=OnlineModel(learning_rate=0.3)), random_state=1, rule='passive')
        >>> LearnerSettings({"model.learning_rate": 0.3}, as_published=True).learner().model
        OnlineModel(learning_rate=0.3)
        """
        from coalface.learner import CoalClassifier

        settings = self.nested()
        if "abstain__label" in settings and "abstain__cost" not in settings:
            raise InputError("--abstain-label needs --abstain-cost, the cost of giving no label. Add it.")
        named = given(rule=settings.pop("rule__variant", None), audits=settings.pop("audits__by", None))
        learner = (CoalClassifier.as_published if self.as_published else CoalClassifier)(**others, **named)
        own = {name[len("model__") :]: settings.pop(name) for name in list(settings) if name.startswith("model__")}
        model = _model_of(settings.pop("model", None), own, learner.model)
        return learner.set_params(**settings, **given(model=model))

    def check_same(self, began: "CoalClassifier", **others: Any) -> None:
        """Refuse settings together with ``--resume`` that the model did not start with.

        >>> from coalface import CoalClassifier
        >>> LearnerSettings({"mellowness": 0.3}).check_same(CoalClassifier(mellowness=0.3))
        """
        before, now = _values(began), _values(self.learner(**others))
        published = [path for path in _TABLE if path != "random_state"] if self.as_published else []
        for path in [*self.given, *others, *published]:
            key = path if path in now else path.partition(".")[0]
            if before[key] != now[key]:
                raise InputError(
                    f"{_name_of(path)} must be as the training began, {shortened(before[key])}, got "
                    f"{shortened(now[key])}. Pass the same settings with --resume, or none."
                )


def _model_of(kind: str | None, own: dict[str, Any], default: Any) -> "CostModel | str | None":
    """A model of this kind with parameters of its own; None if it is the default one of the learner."""
    from coalface.models import CommitteeModel, OnlineModel, model_of

    if "interactions" in own:
        if kind not in (None, "online"):
            raise InputError(f"--interactions needs the online model, got --cost-model {kind}. Leave one of them out.")
        kind = "online"
    if isinstance(default, OnlineModel) and kind in (None, "auto", "online"):  # it has the rate of the paper
        kind, own = kind or "online", {"learning_rate": default.learning_rate, **own}
    if own and kind in (None, "auto"):
        return CommitteeModel(online=OnlineModel(**own))
    return model_of({"kind": kind, **own}) if own else kind


def _values(learner: "CoalClassifier") -> dict[str, Any]:
    """The parameters as JSON values, those of the table by path."""
    from coalface.learner import flat, plain_params

    return {**plain_params(learner), **flat(learner.get_params(deep=False))}


@dataclass(frozen=True)
class _LearnerOptions:
    """The options of some parameters, by path; a verb takes them as one ``LearnerSettings``."""

    paths: tuple[str, ...]
    as_published: bool = False  # whether the verb has that option

    def parameters(self) -> list[inspect.Parameter]:
        """The parameters that Typer reads."""
        found: dict[str, tuple[Any, Any]] = {
            _name_of(path): (_OTHERS.get(path) or _option(_TABLE[path]), None) for path in self.paths
        }
        if self.as_published:
            found = {"as_published": (options.AsPublished, False), **found}
        return [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in found.items()
        ]

    def taken(self, values: dict[str, Any]) -> LearnerSettings:
        """The settings in the values of all options, which are taken out of them.

        >>> ROUTER.taken({"mellowness": 0.1, "audit_rate": None, "cost_model": None, "seed": None})
        LearnerSettings(given={'mellowness': 0.1}, as_published=False)
        """
        found = {path: value for path in self.paths if (value := values.pop(_name_of(path))) is not None}
        if "abstain.label" in found:
            from coalface.data import label_from_text

            found["abstain.label"] = label_from_text(found["abstain.label"])
        if found.get("cost_bounds") == (-math.inf, math.inf):
            found["cost_bounds"] = "auto"
        if "model.interactions" in found:
            found["model.interactions"] = interactions_in(found["model.interactions"])
        return LearnerSettings(found, as_published=self.as_published and values.pop("as_published"))


def _option(parameter: Parameter) -> Any:
    """The type of an option and what its help says."""
    flag, choices = f"--{_name_of(parameter.path).replace('_', '-')}", list(parameter.choices or ())
    meaning = f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}."
    help = meaning if parameter.default is None else f"{meaning} By default {parameter.default}."
    if parameter.kind is bool:
        return Annotated[bool | None, typer.Option(f"{flag}/--no{flag[1:]}", help=meaning)]
    if choices:
        return Annotated[str | None, typer.Option(metavar="|".join(choices), help=help, autocompletion=lambda: choices)]
    if parameter.takes_auto:
        number = int if parameter.kind is int else float
        named = typer.Option(parser=lambda text: number_or_auto(number, text), metavar="NUMBER|auto", help=help)
        return Annotated[Any, named]  # a number or the word auto; Typer has no unions
    return Annotated[parameter.kind | None, typer.Option(help=help)]


LEARNER = _LearnerOptions(tuple(dict.fromkeys((*_TABLE, *_OTHERS))), as_published=True)
PARSER = _LearnerOptions(("rule.variant", "mellowness", "model.learning_rate", "audits.rate", "random_state"))
TAGGER = _LearnerOptions((*PARSER.paths, "rule.slack", "audits.by", "abstain.cost"))
ROUTER = _LearnerOptions(("mellowness", "audits.rate", "model", "random_state"))
