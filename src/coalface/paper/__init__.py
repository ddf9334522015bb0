"""The paper's analysis as functions: how noisy and how difficult a problem is, and the bounds that follow.

- ``noise`` measures how far apart the best two labels are, ``difficulty`` how much a finite class disagrees about
  labels and costs.
- ``bounds`` and ``effort`` are the theorems as functions of ``Schedule``, which holds the paper's constants.
- ``ExactModel`` is Algorithm 1 as a cost model. ``finite`` is Algorithm 1 by enumeration.
- ``problems`` has the three examples of the paper and generates problems with a margin. ``growth`` fits how a count
  grows with the rounds.

``docs/theory.md`` explains all of them.
"""

from coalface.paper.bounds import (
    Deviation,
    excess_cost,
    excess_cost_massart,
    excess_cost_tsybakov,
    excess_loss,
    freedman,
    massart_width,
    oracle_calls,
    regret_radius,
    total_oracle_calls,
)
from coalface.paper.difficulty import Difficulty, difficulty, eluder_dimension, every_combination, value_disagreement
from coalface.paper.effort import (
    Effort,
    Growth,
    begins_to_save,
    effort_any_noise,
    effort_massart,
    effort_massart_width,
    effort_multiclass,
    effort_tsybakov,
    growth,
)
from coalface.paper.finite import FiniteCoal
from coalface.paper.model import ExactModel
from coalface.paper.noise import Measured, Tsybakov, TsybakovFit, margins, massart_margin, noise_level, tsybakov
from coalface.paper.problems import MassartProblem
from coalface.paper.schedule import Schedule

__all__ = [
    "Deviation",
    "Difficulty",
    "Effort",
    "ExactModel",
    "FiniteCoal",
    "Growth",
    "MassartProblem",
    "Measured",
    "Schedule",
    "Tsybakov",
    "TsybakovFit",
    "begins_to_save",
    "difficulty",
    "effort_any_noise",
    "effort_massart",
    "effort_massart_width",
    "effort_multiclass",
    "effort_tsybakov",
    "eluder_dimension",
    "every_combination",
    "excess_cost",
    "excess_cost_massart",
    "excess_cost_tsybakov",
    "excess_loss",
    "freedman",
    "growth",
    "margins",
    "massart_margin",
    "massart_width",
    "noise_level",
    "oracle_calls",
    "regret_radius",
    "total_oracle_calls",
    "tsybakov",
    "value_disagreement",
]
