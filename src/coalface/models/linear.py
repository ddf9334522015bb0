"""The parameters of linear regressors, which compiled code reads from the settings."""

from coalface.data.parameters import Parameter
from coalface.kernels.codes import ADAGRAD, ADAX, AUTO_RATE, DERIVATIVE, SEEN_ONLY, SHADOW

ACCUMULATORS = {"adax": ADAX, "adagrad": ADAGRAD}
SENSITIVITIES = {"shadow": SHADOW, "seen-only": SEEN_ONLY, "derivative": DERIVATIVE}
FIT_INTERCEPT = "model.fit_intercept"

LINEAR_PARAMETERS = (
    Parameter(
        "model.learning_rate",
        "the step size of the online model; auto derives it from the number of features per example",
        "auto",
        field="learning_rate",
        least=0.0,
        most=1e6,
        above=True,
        auto=AUTO_RATE,
    ),
    Parameter(
        "model.accumulator",
        "what the online model sums up to shrink its steps: squared values, or squared gradients (adagrad)",
        "adax",
        kind=str,
        field="accumulator",
        choices=ACCUMULATORS,
    ),
    Parameter(
        "model.sensitivity",
        "how the online model computes how far one more example could move a prediction",
        "shadow",
        kind=str,
        field="sensitivity",
        choices=SENSITIVITIES,
    ),
    Parameter(
        FIT_INTERCEPT, "whether a constant feature 1 is added to every example", True, kind=bool, field="intercept"
    ),
)
