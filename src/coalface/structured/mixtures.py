"""How often the reference acts in a mixture: a fixed probability, or one that falls from pass to pass.

Both papers start with the reference alone and let its share decay. In DAgger, the reference acts in pass i with
probability beta_i = p^(i - 1), or in the first pass alone (p = 0). In Searn, each pass adds the new policy with weight
beta to the mixture, so the reference keeps the share (1 - beta)^(i - 1) in pass i.
"""

from typing import Any

from coalface.errors import InputError, shortened

_DAGGER, _SEARN = "dagger", "searn"
_FORMS = f"a number from 0 to 1, {_DAGGER!r}, '{_DAGGER}:P' or '{_SEARN}:BETA', such as '{_SEARN}:0.1'"


def reference_share(mixture: Any, pass_number: int) -> float:
    """The probability with which the reference acts in a pass, counted from 1; an InputError for a bad mixture.

    >>> [reference_share("dagger", i) for i in (1, 2, 3)], [reference_share("dagger:0.5", i) for i in (1, 2, 3)]
    ([1.0, 0.0, 0.0], [1.0, 0.5, 0.25])
    >>> [round(reference_share("searn:0.1", i), 3) for i in (1, 2, 3)], reference_share(0.3, 7)
    ([1.0, 0.9, 0.81], 0.3)
    """
    if not isinstance(mixture, str):
        return _share(mixture, mixture)
    name, _, number = mixture.partition(":")
    if mixture == _DAGGER:
        decay = 0.0
    elif name == _DAGGER:
        decay = _share(number, mixture)
    elif name == _SEARN:
        decay = 1.0 - _share(number, mixture)
    else:
        raise _refused(mixture)
    return float(decay ** (pass_number - 1))  # 0^0 is 1: the first pass belongs to the reference


def _share(value: Any, mixture: Any) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        raise _refused(mixture) from None
    if isinstance(value, bool) or not 0.0 <= share <= 1.0:
        raise _refused(mixture)
    return share


def _refused(mixture: Any) -> InputError:
    return InputError(f"mixture must be {_FORMS}, got {shortened(mixture)}.")
