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
"""
