"""The learner: a scikit-learn classifier that asks for costs and learns from the answers.

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.learner.budget import Budget as Budget
    from coalface.learner.estimator import CoalClassifier as CoalClassifier
    from coalface.learner.forecast import Interval as Interval, spending_text as spending_text
    from coalface.learner.intake import with_label_features as with_label_features
    from coalface.learner.labels import change_labels as change_labels
    from coalface.learner.monitor import unit_saving as unit_saving, warn_if_collapsed as warn_if_collapsed
    from coalface.learner.monitor import warn_if_unanswered as warn_if_unanswered
    from coalface.learner.monitor import warn_of_unlearned as warn_of_unlearned
    from coalface.learner.named_learner import NamedLearner as NamedLearner, require_model as require_model
    from coalface.learner.parameter_table import PARAMETERS as PARAMETERS
    from coalface.learner.parameters import Coal as Coal, ParameterGroup as ParameterGroup, abstain_of as abstain_of
    from coalface.learner.parameters import audits_of as audits_of, by_path as by_path, flat as flat, nested as nested
    from coalface.learner.parameters import plain_group as plain_group, rule_of as rule_of
    from coalface.learner.play import UNLIMITED as UNLIMITED
    from coalface.learner.pool import possible_savings as possible_savings
    from coalface.learner.predicting import best_labels as best_labels
    from coalface.learner.recorder import bundled as bundled, from_bundle as from_bundle, plain_params as plain_params
    from coalface.learner.state import NotFittedError as NotFittedError, scale_of as scale_of
    from coalface.learner.state import settings_of as settings_of
    from coalface.learner.streaming import Stream as Stream, Training as Training, examples_of as examples_of
    from coalface.learner.teaching import learned_with as learned_with, replay_rounds as replay_rounds
    from coalface.learner.teaching import tell_rounds as tell_rounds
    from coalface.learner.telling import tell_lines as tell_lines
else:
    __getattr__, __dir__ = door_of(__name__)
