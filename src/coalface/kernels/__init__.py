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

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.kernels.codes import FIXED_SLACK as FIXED_SLACK, NOISE_SCALED as NOISE_SCALED
    from coalface.kernels.compile import called as called, inlined as inlined, kernel as kernel
    from coalface.kernels.cuda.device import CudaDevice as CudaDevice, Device as Device
    from coalface.kernels.cuda.layout import FIELDS as FIELDS, POINTERS as POINTERS, PROBLEM as PROBLEM
    from coalface.kernels.cuda.layout import SETTINGS as SETTINGS, bytes_per_run as bytes_per_run
    from coalface.kernels.cuda.layout import stride_for as stride_for
    from coalface.kernels.draws import GOLDEN_64 as GOLDEN_64, mix as mix
    from coalface.kernels.features import INTERCEPT as INTERCEPT, find_slot_from as find_slot_from
    from coalface.kernels.features import first_place as first_place
    from coalface.kernels.online import decide_and_answer as decide_and_answer, has_room as has_room
    from coalface.kernels.online import learn_row as learn_row
    from coalface.kernels.prefetch import prefetch_ahead as prefetch_ahead
    from coalface.kernels.regression import gather as gather, predict as predict
    from coalface.kernels.rounds import forget_known_parts as forget_known_parts
    from coalface.kernels.rules import best_answer as best_answer
    from coalface.kernels.state import AUDIT as AUDIT, Bool as Bool, CANNOT_BE_BEST as CANNOT_BE_BEST
    from coalface.kernels.state import COSTS_QUERIED as COSTS_QUERIED, Csr as Csr, EXAMPLES_QUERIED as EXAMPLES_QUERIED
    from coalface.kernels.state import F32 as F32, F64 as F64, I32 as I32, I64 as I64, LEVELS as LEVELS
    from coalface.kernels.state import MOST_IMPLIED as MOST_IMPLIED, Model as Model, NEW_LABEL as NEW_LABEL
    from coalface.kernels.state import ROUND as ROUND, RoundArrays as RoundArrays, SLOTS_USED as SLOTS_USED
    from coalface.kernels.state import Scratch as Scratch, Settings as Settings, UNCERTAIN as UNCERTAIN
    from coalface.kernels.state import WARM_UP as WARM_UP, WEIGHT as WEIGHT, lanes_for as lanes_for
    from coalface.kernels.state import new_rounds as new_rounds
    from coalface.kernels.turns import ALONE as ALONE
else:
    __getattr__, __dir__ = door_of(__name__)
