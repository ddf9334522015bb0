"""The paper's analysis as functions: how noisy and how difficult a problem is, and the bounds that follow.

- ``noise`` measures how far apart the best two labels are, and ``difficulty`` how much a finite class disagrees.
- ``bounds`` and ``effort`` are the theorems as functions of ``Schedule``, which holds the paper's constants.
- ``finite`` is Algorithm 1 by enumeration, ``paper_examples`` the three examples of the paper.
- ``massart`` generates problems with a margin, and ``growth`` fits how a count grows with the rounds.

``docs/theory.md`` explains all of them.
"""

from coalface.models.exact.schedule import Schedule
from coalface.theory.bounds import excess_cost, excess_cost_massart, excess_cost_tsybakov, oracle_calls
from coalface.theory.difficulty import Difficulty, difficulty, every_combination
from coalface.theory.effort import (
    Effort,
    begins_to_save,
    effort_any_noise,
    effort_massart,
    effort_multiclass,
    effort_tsybakov,
)
from coalface.theory.finite import FiniteCoal
from coalface.theory.growth import Growth, growth
from coalface.theory.massart import MassartProblem
from coalface.theory.noise import Measured, Tsybakov, TsybakovFit, margins, massart_margin, noise_level, tsybakov

__all__ = [
    "Difficulty",
    "Effort",
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
    "effort_multiclass",
    "effort_tsybakov",
    "every_combination",
    "excess_cost",
    "excess_cost_massart",
    "excess_cost_tsybakov",
    "growth",
    "margins",
    "massart_margin",
    "noise_level",
    "oracle_calls",
    "tsybakov",
]
