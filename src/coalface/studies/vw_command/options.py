"""The options of Vowpal Wabbit that ``coalface vw`` knows, and what happens to each.

An option runs, is ignored because it cannot change the result, must have VW's default value, or is refused because
leaving it out would change the result. Options that are not in the table are refused as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from coalface.errors import InputError

RUNS, IGNORED, DEFAULT_ONLY, REFUSED = "runs", "ignored", "default only", "refused"


@dataclass(frozen=True)
class VwOption:
    """An option: its long name, its letter if it has one, whether a value follows, and what happens to it.

    ``why`` says why it is ignored, or what to do instead. ``default`` is the only value that is not refused.
    """

    name: str
    fate: str
    why: str = ""
    letter: str = ""
    takes_value: bool = True
    default: float | str | None = None

    @property
    def shown(self) -> str:
        """The option as a user writes it."""
        return f"-{self.letter}" if self.letter else f"--{self.name}"


@dataclass(frozen=True)
class Given:
    """An option of a command with its value; a flag has the value ""."""

    option: VwOption
    value: str

    def __str__(self) -> str:
        return f"{self.option.shown} {self.value}".strip()


def _runs(name: str, letter: str = "", *, takes_value: bool = True) -> VwOption:
    return VwOption(name, RUNS, letter=letter, takes_value=takes_value)


def _ignored(name: str, why: str, letter: str = "", *, takes_value: bool = True) -> VwOption:
    return VwOption(name, IGNORED, why, letter, takes_value)


def _default_only(name: str, default: float | str, why: str) -> VwOption:
    return VwOption(name, DEFAULT_ONLY, why, default=default)


def _refused(name: str, why: str, *, takes_value: bool = True) -> VwOption:
    return VwOption(name, REFUSED, why, takes_value=takes_value)


_NO_HASH = "features have names here, so no two of them share a weight"
_NO_CACHE = "the file is read into memory once"
_UPDATE = "only VW's default update, adaptive, normalized and invariant, has a counterpart"
_LDF = (
    "files with one line per label (label-dependent features) have no counterpart. Write one line per example, "
    "such as 1:0.5 2:1.0 | features, and use --csoaa"
)
_PAIRS_ONLY = 'only products of two features are made. Use -q, or CoalClassifier(model="forest") on dense data'
_ONE_LABEL = "here the learner asks for costs of labels. Use --cs_active K --simulation"

OPTIONS = (
    _runs("data", "d"),
    _runs("cs_active"),
    _runs("simulation", takes_value=False),
    _runs("mellowness"),
    _runs("range_c"),
    _runs("domination"),
    _runs("cost_max"),
    _runs("adax", takes_value=False),
    _runs("csoaa"),
    _runs("oaa"),
    _runs("ect"),
    _runs("learning_rate", "l"),
    _runs("quadratic", "q"),
    _runs("interactions"),
    _runs("ngram"),
    _runs("skips"),
    _runs("ignore"),
    _runs("keep"),
    _runs("noconstant", takes_value=False),
    _runs("passes"),
    _runs("holdout_off", takes_value=False),
    _runs("initial_regressor", "i"),
    _runs("final_regressor", "f"),
    _runs("testonly", "t", takes_value=False),
    _runs("predictions", "p"),
    _runs("raw_predictions", "r"),
    _runs("progress", "P"),
    _runs("quiet", takes_value=False),
    _runs("adaptive", takes_value=False),
    _runs("normalized", takes_value=False),
    _runs("invariant", takes_value=False),
    _ignored("bit_precision", _NO_HASH, "b"),
    _ignored("hash", _NO_HASH),
    _ignored("hash_seed", _NO_HASH),
    _ignored("random_seed", "nothing here is drawn at random"),
    _ignored("cache", _NO_CACHE, "c", takes_value=False),
    _ignored("cache_file", _NO_CACHE),
    _ignored("kill_cache", _NO_CACHE, "k", takes_value=False),
    _ignored("compressed", "a .gz file is recognised", takes_value=False),
    _ignored("save_resume", "models are always saved completely", takes_value=False),
    _ignored("no_stdin", "standard input is never read", takes_value=False),
    _ignored("csa_debug", "learner.ask gives ranges and reasons", takes_value=False),
    _ignored("min_labels", "no models are saved on the way. simulate --checkpoints measures on the way"),
    _default_only("power_t", 0.5, _UPDATE),
    _default_only("initial_t", 0.0, _UPDATE),
    _default_only("decay_learning_rate", 1.0, _UPDATE),
    _default_only("l1", 0.0, _UPDATE),
    _default_only("l2", 0.0, _UPDATE),
    _default_only("loss_function", "squared", "costs are learned with squared loss"),
    _default_only("cost_min", 0.0, "predictions start at the least cost. Shift the costs so that the least is 0"),
    _refused("csoaa_ldf", _LDF),
    _refused("wap_ldf", _LDF),
    _refused("csldf_oaa", _LDF),
    _refused("cubic", _PAIRS_ONLY),
    _refused("ignore_linear", "a feature with products is learned itself, too"),
    _refused("sgd", _UPDATE, takes_value=False),
    _refused("bfgs", _UPDATE, takes_value=False),
    _refused("ftrl", _UPDATE, takes_value=False),
    _refused("max_labels", "VW stops predicting there. Use coalface simulate --budget costs=N"),
    _refused("baseline", "it ends VW with an error. Use coalface simulate --rule all-or-none", takes_value=False),
    _refused("active", _ONE_LABEL, takes_value=False),
    _refused("active_cover", _ONE_LABEL, takes_value=False),
    _refused("search", "use coalface tag, or coalface.structured for tasks of your own"),
    _refused("min_prediction", "predictions are clipped to 0 and the largest cost"),
    _refused("max_prediction", "predictions are clipped to 0 and the largest cost"),
)
_BY_NAME = {option.name: option for option in OPTIONS}
_BY_LETTER = {option.letter: option for option in OPTIONS if option.letter}


def parse(words: Iterable[str]) -> list[Given]:
    """The options of a command line of VW; a lone word is the data, as with ``-d``.

    >>> [str(given) for given in parse(["--csoaa", "3", "-qab", "--l2=0", "train.vw"])]
    ['--csoaa 3', '-q ab', '--l2 0', '-d train.vw']
    """
    return list(_parsed(iter(words)))


def _parsed(words: Iterator[str]) -> Iterator[Given]:
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            option, joined = _named(name), bool(equals)
        elif word.startswith("-") and len(word) > 1:
            option, value = _lettered(word), word[2:].removeprefix("=")
            joined = len(word) > 2
        else:
            yield Given(_BY_NAME["data"], word)
            continue
        if option.takes_value and not joined:
            value = next(words, "")
        if option.takes_value and not value:
            raise InputError(f"{option.shown} needs a value, got none. Write it like {option.shown} VALUE.")
        if joined and not option.takes_value:
            raise InputError(f"{option.shown} takes no value, got {word!r}. Leave the value out.")
        yield Given(option, value)


_SUPPORTED = "The page Come from Vowpal Wabbit of the documentation lists those that have one."


def _named(name: str) -> VwOption:
    if name in _BY_NAME:
        return _BY_NAME[name]
    close = get_close_matches(name, _BY_NAME, n=1)
    hint = f"Did you mean --{close[0]}?" if close else _SUPPORTED
    raise InputError(f"--{name} is an option without a counterpart here, and could change the result. {hint}")


def _lettered(word: str) -> VwOption:
    if word[1] in _BY_LETTER:
        return _BY_LETTER[word[1]]
    raise InputError(f"{word} is an option without a counterpart here. {_SUPPORTED}")
