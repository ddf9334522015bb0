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
    Parameter(
        path="rule.variant",
        meaning="which costs are asked for",
        default="coal",
        kind=str,
        field="rule",
        choices=RULES,
    ),
    Parameter(
        path="mellowness",
        meaning="how much more loss than the best regressor a plausible one may have: more asks more",
        default=0.12,
        field="mellowness",
        least=0.0,
    ),
    Parameter(
        path="rule.width_scale",
        meaning="a range narrower than this / sqrt(round), as a share of the cost scale, counts as known",
        default=0.5,
        field="width_scale",
        least=0.0,
    ),
    Parameter(
        path="rule.slack",
        meaning="whether the slack follows the noise of each label, or is that of the paper's code or text",
        default="noise-scaled",
        kind=str,
        field="slack",
        choices=SLACKS,
    ),
    Parameter(
        path="rule.warm_up",
        meaning="examples at the start that are asked about in full",
        default="auto",
        kind=int,
        field="warm_up",
        least=0,
        auto=AUTO_WARM_UP,
    ),
    Parameter(
        path="rule.in_turn",
        meaning="ask about an example one question at a time, so that an answer can settle the rest",
        default=True,
        kind=bool,
        field="in_turn",
    ),
    Parameter(
        path="rule.miss_rate",
        meaning="how often the best label may be missed; audits measure it, and the slack follows",
        default="auto",
        field="miss_rate",
        least=0.0,
        most=1.0,
        auto=AUTO_MISSES,
        none=FIXED_SLACK,
    ),
    Parameter(
        path="rule.alike",
        meaning="the similarity at which two examples of one batch count as one",
        default=1.0,
        field="alike",
        least=0.0,
        most=1.0,
        above=True,
        none=math.inf,
    ),
    Parameter(
        path="audits.rate",
        meaning="probability of one more question about an example, which measures what the rule misses",
        default=0.1,
        field="audit_rate",
        least=0.0,
        most=1.0,
    ),
    Parameter(
        path="audits.by",
        meaning="where audits look: everywhere alike, or where the predicted label may be wrong",
        default="even",
        kind=str,
        field="audits_by_loss",
        choices=AUDITS,
    ),
    Parameter(
        path="price_of_truth",
        meaning="the price of one true label, in costs; without it, true labels are never asked for",
        default=None,
        field="price_of_truth",
        least=0.0,
        above=True,
        none=math.inf,
    ),
    Parameter(
        path="random_state",
        meaning="seed of the audits and of forests",
        default=0,
        kind=int,
        field="seed",
        least=0,
    ),
    *LINEAR_PARAMETERS,
)
