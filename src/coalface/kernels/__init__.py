"""The compiled loops: the only folder that imports Numba.

Kernels take arrays and scalars, trust their input, allocate nothing per example and release the GIL.

=======================  ===============================================================
``compile``              the decorator, and a cache of machine code that cannot go stale
``state``                data shared by kernels: a model's arrays, settings, scratch memory
``codes``                the codes of rules, slacks and other settings
``features``             a hash table from feature numbers to slots
``regression``           predict, measure and update all labels in one pass over a row
``ridge``                exact ridge regression
``landmarks``            features of a Gaussian kernel
``prefetch``             a hint to the processor to load memory early
``ranges``               cost ranges: how far a cost may lie from its prediction
``rules``                which costs to ask for, and why
``turns``                one question after another: labels that an answer rules out
``implied``              costs that answers imply for labels that were not asked about
``stopping``             the saving that further questions could bring
``budgets``              questions paced by a budget
``rounds``               a round's candidates, counts and regret
``online``               the loops of the online model: predict, ask, tell, simulate
``serving``              which label to serve, and learning from what was served
``precomputed_ranges``   the same rounds for all other models
``tagging``              the loops of the sequence tagger
``vw_text``, ``words``   the parser of VW's cost-sensitive text
=======================  ===============================================================

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.kernels.codes import FIXED_SLACK, NOISE_SCALED
    from coalface.kernels.compile import called, inlined, kernel
    from coalface.kernels.cuda.device import CudaDevice, Device
    from coalface.kernels.cuda.layout import FIELDS, POINTERS, PROBLEM, SETTINGS, bytes_per_run, stride_for
    from coalface.kernels.draws import GOLDEN_64, mix
    from coalface.kernels.features import INTERCEPT, find_slot_from, first_place
    from coalface.kernels.online import decide_and_answer, has_room, learn_row
    from coalface.kernels.prefetch import prefetch_ahead
    from coalface.kernels.regression import gather, predict
    from coalface.kernels.rounds import forget_known_parts
    from coalface.kernels.rules import best_answer
    from coalface.kernels.state import (
        AUDIT,
        CANNOT_BE_BEST,
        COSTS_QUERIED,
        EXAMPLES_QUERIED,
        F32,
        F64,
        I32,
        I64,
        LEVELS,
        MOST_IMPLIED,
        NEW_LABEL,
        ROUND,
        SLOTS_USED,
        UNCERTAIN,
        WARM_UP,
        WEIGHT,
        Bool,
        Csr,
        Model,
        RoundArrays,
        Scratch,
        Settings,
        lanes_for,
        new_rounds,
    )
    from coalface.kernels.turns import ALONE
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "ALONE",
    "AUDIT",
    "CANNOT_BE_BEST",
    "COSTS_QUERIED",
    "EXAMPLES_QUERIED",
    "F32",
    "F64",
    "FIELDS",
    "FIXED_SLACK",
    "GOLDEN_64",
    "I32",
    "I64",
    "INTERCEPT",
    "LEVELS",
    "MOST_IMPLIED",
    "NEW_LABEL",
    "NOISE_SCALED",
    "POINTERS",
    "PROBLEM",
    "ROUND",
    "SETTINGS",
    "SLOTS_USED",
    "UNCERTAIN",
    "WARM_UP",
    "WEIGHT",
    "Bool",
    "Csr",
    "CudaDevice",
    "Device",
    "Model",
    "RoundArrays",
    "Scratch",
    "Settings",
    "best_answer",
    "bytes_per_run",
    "called",
    "decide_and_answer",
    "find_slot_from",
    "first_place",
    "forget_known_parts",
    "gather",
    "has_room",
    "inlined",
    "kernel",
    "lanes_for",
    "learn_row",
    "mix",
    "new_rounds",
    "predict",
    "prefetch_ahead",
    "stride_for",
]
