"""Refuses command lines whose result would differ from VW's, or that VW itself would not run."""

from collections.abc import Sequence

from coalface.errors import InputError
from coalface.studies.vw_command.given_options import GivenOptions
from coalface.studies.vw_command.options import DEFAULT_ONLY, REFUSED, Given

CS_ACTIVE, CSOAA, OAA, ECT = "cs_active", "csoaa", "oaa", "ect"
REDUCTIONS = (CS_ACTIVE, CSOAA, OAA, ECT)
_UPDATE_PARTS = ("adaptive", "normalized", "invariant")  # VW's default update; naming one turns off the others
_OF_CS_ACTIVE = ("mellowness", "range_c", "domination", "cost_max")
_OF_TRAINING = (*_OF_CS_ACTIVE, "adax", "learning_rate", "quadratic", "interactions", "noconstant")


def reduction_of(options: GivenOptions) -> str | None:
    """What the command learns; None if a saved model knows."""
    return next((name for name in REDUCTIONS if name in options), None)


def check_alone(given: Given) -> None:
    """Refuse an option that would change the result."""
    option = given.option
    if option.fate == REFUSED:
        raise InputError(f"{given} would change the result: {option.why}.")
    if option.fate == DEFAULT_ONLY:
        same = given.value == option.default if isinstance(option.default, str) else _is(given.value, option.default)
        if not same:
            raise InputError(f"{given} would change the result: {option.why}. Use the default, {option.default}.")


def _is(text: str, number: float | None) -> bool:
    try:
        return float(text) == number
    except ValueError:
        return False


def check_together(options: GivenOptions) -> None:
    """Refuse options that do not make sense together, or not without others."""
    if len(options.all("data")) != 1:
        raise InputError(f"coalface vw needs one file of data, got {len(options.all('data'))}. Pass -d FILE.")
    chosen = [name for name in REDUCTIONS if name in options]
    saved = options.first_of(["initial_regressor"])
    if saved is not None:
        refused = options.first_of(_OF_TRAINING)
        if refused is not None:
            raise InputError(f"{refused} cannot change with {saved}: a model keeps its settings. Leave it out.")
    elif "testonly" in options:
        raise InputError("-t needs a trained model. Pass -i MODEL, which coalface vw -f MODEL wrote.")
    elif len(chosen) != 1:
        known = ", ".join(f"--{name} K" for name in REDUCTIONS)
        raise InputError(f"coalface vw needs one of {known}, or -i MODEL, got {len(chosen)} of them.")
    else:
        _check_asking(options, chosen)
    _check_passes(options)


def _check_passes(options: GivenOptions) -> None:
    named = [rule for rule in _UPDATE_PARTS if rule in options]
    if named and len(named) < len(_UPDATE_PARTS):
        raise InputError(
            f"--{named[0]} alone turns off the other parts of VW's update. Leave it out, or give all three."
        )
    if options.whole("passes", 1, least=1) > 1 and "holdout_off" not in options:
        raise InputError("--passes makes VW hold out every tenth example. Add --holdout_off to learn all of them.")
    if options.number("progress", 2.0) <= (1.0 if "." in options.text("progress") else 0.0):
        raise InputError(f"-P must be a whole number above 0 or a factor above 1.0, got {options.text('progress')}.")


def _check_asking(options: GivenOptions, chosen: Sequence[str]) -> None:
    if CS_ACTIVE not in chosen:
        stray = options.first_of(("simulation", *_OF_CS_ACTIVE))
        if stray is not None:
            raise InputError(f"{stray} needs --cs_active K. Add it, or leave {stray.option.shown} out.")
    elif "simulation" not in options:
        raise InputError(
            "--cs_active without --simulation never learns in VW. Add --simulation, or use coalface ask and tell."
        )
    elif options.number("cost_max", 1.0) == 0.0:
        raise InputError("--cost_max must be above 0, got 0.")
