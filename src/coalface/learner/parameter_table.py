"""The table of the learner's parameters that can be written as text.

``PARAMETERS`` feeds the checks, the options of the command line, TOML files and the page ``docs/parameters.md``. It
imports no numpy, so that ``coalface --help`` is quick.
"""

import math

from coalface.data.parameters import Parameter
from coalface.kernels.codes import (
    ALL_OR_NONE,
    AUTO_MISSES,
    AUTO_WARM_UP,
    COAL,
    FIXED_SLACK,
    NO_DOMINATION,
    NOISE_SCALED,
    PASSIVE,
    PRINTED,
    PUBLISHED,
)
from coalface.models.linear import LINEAR_PARAMETERS

RULES = {"coal": COAL, "all-or-none": ALL_OR_NONE, "no-domination": NO_DOMINATION, "passive": PASSIVE}
SLACKS = {"published": PUBLISHED, "noise-scaled": NOISE_SCALED, "printed": PRINTED}
AUDITS = {"even": False, "loss": True}

PARAMETERS: tuple[Parameter, ...] = (
    Parameter("rule.variant", "which costs are asked for", "coal", kind=str, field="rule", choices=RULES),
    Parameter(
        "mellowness",
        "how much more loss than the best regressor a plausible one may have: more asks more",
        0.12,
        field="mellowness",
        least=0.0,
    ),
    Parameter(
        "rule.width_scale",
        "a range narrower than this / sqrt(round), as a share of the cost scale, counts as known",
        0.5,
        field="width_scale",
        least=0.0,
    ),
    Parameter(
        "rule.slack",
        "whether the slack follows the noise of each label, or is that of the paper's code or text",
        "noise-scaled",
        kind=str,
        field="slack",
        choices=SLACKS,
    ),
    Parameter(
        "rule.warm_up",
        "examples at the start that are asked about in full",
        "auto",
        kind=int,
        field="warm_up",
        least=0,
        auto=AUTO_WARM_UP,
    ),
    Parameter(
        "rule.in_turn",
        "ask about an example one question at a time, so that an answer can settle the rest",
        True,
        kind=bool,
        field="in_turn",
    ),
    Parameter(
        "rule.miss_rate",
        "how often the best label may be missed; audits measure it, and the slack follows",
        "auto",
        field="miss_rate",
        least=0.0,
        most=1.0,
        auto=AUTO_MISSES,
        none=FIXED_SLACK,
    ),
    Parameter(
        "rule.alike",
        "the similarity at which two examples of one batch count as one",
        1.0,
        field="alike",
        least=0.0,
        most=1.0,
        above=True,
        none=math.inf,
    ),
    Parameter(
        "audits.rate",
        "probability of one more question about an example, which measures what the rule misses",
        0.1,
        field="audit_rate",
        least=0.0,
        most=1.0,
    ),
    Parameter(
        "audits.by",
        "where audits look: everywhere alike, or where the predicted label may be wrong",
        "even",
        kind=str,
        field="audits_by_loss",
        choices=AUDITS,
    ),
    Parameter(
        "price_of_truth",
        "the price of one true label, in costs; without it, true labels are never asked for",
        None,
        field="price_of_truth",
        least=0.0,
        above=True,
        none=math.inf,
    ),
    Parameter(
        "random_state", "seed of the order of rows, of audits and of forests", 0, kind=int, field="seed", least=0
    ),
    *LINEAR_PARAMETERS,
)
