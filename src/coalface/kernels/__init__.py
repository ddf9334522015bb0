"""The compiled loops: the only folder that imports Numba.

Kernels take arrays and scalars, trust their input, allocate nothing per example and release the GIL.

======================  =================================================================
``compile``             the decorator, and a cache that cannot go stale
``state``               what the kernels share: the learner's arrays, settings, scratch
``features``            feature number -> slot, a hash table that only holds what was seen
``regression``          predict, measure and update all labels in one pass over a row
``prefetch``            a hint to the processor
``costrange``           how far each cost may still lie from its prediction
``decision``            which costs to ask for, and why
``turns``               one question after the other: what an answer settles
``implied``             what the answers say about the settled labels
``answer``              the label to predict, or abstaining
``saving``              what more asking could still save
``pacing``              how much of that a budget allows
``twins``               what is not asked for again on equal rows
``online``              the entry points: predict, ask, tell, simulate
``vw_text``, ``words``  the parser of VW's cost-sensitive text: lines; numbers, hashes and names
======================  =================================================================
"""
