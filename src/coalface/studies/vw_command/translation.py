"""From a command line of Vowpal Wabbit to the settings of a learner, the options of the reader and files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from coalface.errors import InputError
from coalface.studies.vw_command.checks import CS_ACTIVE, check_alone, check_together, reduction_of
from coalface.studies.vw_command.differences import differences
from coalface.studies.vw_command.given_options import GivenOptions
from coalface.studies.vw_command.options import IGNORED, parse

_MELLOWNESS, _RANGE_C, _RATE = 0.1, 0.5, 0.5  # VW's defaults


@dataclass(frozen=True)
class VwCommand:
    """What a command line asks for; ``differences`` says where the result is not VW's."""

    reduction: str | None  # None: a saved model knows
    n_labels: int
    mellowness: float
    width_scale: float
    learning_rate: float
    largest_cost: float | None  # None: that of the file, if it is above 1
    rule: str
    accumulator: str
    fit_intercept: bool
    pairs: tuple[str, ...]  # letters of namespaces whose features are multiplied
    reading: dict[str, Any]
    passes: int
    data: Path
    model_in: Path | None
    model_out: Path | None
    predictions: Path | None
    raw_predictions: Path | None
    test_only: bool
    progress: float  # examples between two lines of progress, or the factor between their numbers
    progress_is_factor: bool
    quiet: bool
    ignored: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Whether the learner asks for costs, instead of learning all of them."""
        return self.reduction == CS_ACTIVE

    def settings(self, largest_cost: float) -> dict[str, Any]:
        """The settings for ``CoalClassifier.as_published``, given the largest cost in the file.

        Learners see costs divided by their bound. Dividing the mellowness by it, too, and AdaGrad's learning rate,
        gives VW's numbers.

        >>> translate("--cs_active 3 --simulation --adax --cost_max 2 -d a.vw".split()).settings(2.0)
        {'mellowness': 0.05, 'learning_rate': 0.5, 'cost_bounds': (0.0, 2.0)}
        """
        bound = self.largest_cost if self.largest_cost is not None else max(1.0, largest_cost)
        given: dict[str, Any] = {
            "mellowness": self.mellowness / bound,
            "learning_rate": self.learning_rate / (bound if self.accumulator == "adagrad" else 1.0),
        }
        others = {
            "rule": (self.rule, "coal"),
            "width_scale": (self.width_scale, _RANGE_C),
            "accumulator": (self.accumulator, "adax"),
            "fit_intercept": (self.fit_intercept, True),
            "cost_bounds": ((0.0, bound), (0.0, 1.0)),
        }
        if not self.asks:
            del given["mellowness"]
        return {**given, **{name: value for name, (value, default) in others.items() if value != default}}


def translate(words: Iterable[str]) -> VwCommand:
    """The command of these words; an InputError if an option would make the result differ.

    >>> command = translate("--cs_active 3 --simulation --mellowness 0.01 -b 24 -d a.vw".split())
    >>> command.n_labels, command.accumulator, command.ignored
    (3, 'adagrad', ('-b 24: features have names here, so no two of them share a weight',))
    """
    given = parse(_without_program(list(words)))
    for one in given:
        check_alone(one)
    options = GivenOptions(given)
    check_together(options)
    reduction, pairs = reduction_of(options), _pairs(options)
    passive = reduction != CS_ACTIVE
    rule = "passive" if passive else "coal" if options.number("domination", 1.0) else "no-domination"
    return VwCommand(
        reduction=reduction,
        n_labels=0 if reduction is None else options.whole(reduction, 0, least=2),
        mellowness=options.number("mellowness", _MELLOWNESS),
        width_scale=options.number("range_c", _RANGE_C),
        learning_rate=options.number("learning_rate", _RATE),
        largest_cost=None if passive else options.number("cost_max", 1.0),
        rule=rule,
        accumulator="adax" if "adax" in options else "adagrad",
        fit_intercept="noconstant" not in options,
        pairs=tuple(pairs),
        reading=_reading(options, pairs),
        passes=options.whole("passes", 1, least=1),
        data=Path(options.text("data")),
        model_in=options.path("initial_regressor"),
        model_out=options.path("final_regressor"),
        predictions=options.path("predictions"),
        raw_predictions=options.path("raw_predictions"),
        test_only="testonly" in options,
        progress=options.number("progress", 2.0),
        progress_is_factor="." in options.text("progress", "2.0"),
        quiet="quiet" in options,
        ignored=tuple(f"{one}: {one.option.why}" for one in given if one.option.fate == IGNORED),
        differences=tuple(differences(reduction, pairs, test_only="testonly" in options)),
    )


def _without_program(words: list[str]) -> list[str]:
    """The words without the name of the program, which a pasted command begins with."""
    return words[1:] if words and PurePath(words[0]).name in ("vw", "vw.exe") else words


def _pairs(options: GivenOptions) -> list[str]:
    """The pairs of letters, each once and in alphabetic order."""
    pairs: list[str] = []
    for name in ("quadratic", "interactions"):
        for text in options.all(name):
            if len(text) != 2:
                raise InputError(
                    f"--{name} {text} would change the result: it must name two namespaces by their first letters, "
                    "such as -q ab. Products of more features have no counterpart."
                )
            pair = "".join(sorted(text))
            pairs += [pair] if pair not in pairs else []
    return pairs


def _reading(options: GivenOptions, pairs: Sequence[str]) -> dict[str, Any]:
    """The options of the reader."""
    found = {"ignore": "ignore", "keep": "keep", "ngram": "ngrams", "skips": "skips"}
    reading: dict[str, Any] = {name: options.all(option) for option, name in found.items() if option in options}
    if any(pair != "::" for pair in pairs):
        reading["grouped"] = True
    return reading
