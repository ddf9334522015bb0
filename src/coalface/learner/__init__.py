"""The learner: a scikit-learn classifier that asks for costs and learns from the answers.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.learner.budget import Budget
    from coalface.learner.estimator import CoalClassifier
    from coalface.learner.forecast import Interval
    from coalface.learner.intake import with_label_features
    from coalface.learner.labels import change_labels
    from coalface.learner.monitor import unit_saving, warn_if_collapsed, warn_if_unanswered, warn_of_unlearned
    from coalface.learner.named_learner import NamedLearner, require_model
    from coalface.learner.parameter_table import PARAMETERS
    from coalface.learner.parameters import (
        Coal,
        ParameterGroup,
        abstain_of,
        audits_of,
        by_path,
        flat,
        nested,
        plain_group,
        rule_of,
    )
    from coalface.learner.play import UNLIMITED
    from coalface.learner.pool import possible_savings
    from coalface.learner.predicting import best_labels
    from coalface.learner.recorder import bundled, from_bundle, plain_params
    from coalface.learner.state import NotFittedError, settings_of
    from coalface.learner.streaming import Stream, Training, examples_of
    from coalface.learner.teaching import learned_with, replay_rounds, tell_rounds
    from coalface.learner.telling import tell_lines
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "PARAMETERS",
    "UNLIMITED",
    "Budget",
    "Coal",
    "CoalClassifier",
    "Interval",
    "NamedLearner",
    "NotFittedError",
    "ParameterGroup",
    "Stream",
    "Training",
    "abstain_of",
    "audits_of",
    "best_labels",
    "bundled",
    "by_path",
    "change_labels",
    "examples_of",
    "flat",
    "from_bundle",
    "learned_with",
    "nested",
    "plain_group",
    "plain_params",
    "possible_savings",
    "replay_rounds",
    "require_model",
    "rule_of",
    "settings_of",
    "tell_lines",
    "tell_rounds",
    "unit_saving",
    "warn_if_collapsed",
    "warn_if_unanswered",
    "warn_of_unlearned",
    "with_label_features",
]
