"""The compiled loops: the only folder that imports Numba.

Kernels take arrays and scalars, trust their input, allocate nothing per example and release the GIL.

=======================  ===============================================================
``compile``              the decorator, and a cache of machine code that cannot go stale
``state``                what kernels share: a model's arrays, settings, scratch memory, rounds
``features``             feature number -> slot, a hash table of the features that were seen
``regression``           predict, measure and update all labels in one pass over a row
``ridge``                exact ridge regression
``prefetch``             a hint to the processor
``ranges``               how far each cost may still lie from its prediction
``rules``                which costs to ask for, and why
``turns``                one question after the other: what an answer settles
``implied``              what answers say about labels that were not asked about
``answer``               the label to predict, or abstaining
``stopping``             what more asking could still save
``budgets``              how much of that a budget allows
``near_duplicates``      questions that are not repeated within a batch
``rounds``               candidates, counts and the end of a round
``online``               the loops of the online model: predict, ask, tell, simulate
``precomputed_ranges``   the same rounds for all other models
``tagging``              the loops of the sequence tagger
``vw_text``, ``words``   the parser of VW's cost-sensitive text
=======================  ===============================================================
"""
