"""Speed and memory of coalface, as ratios in one run on one core, most of them against Vowpal Wabbit.

Run ``make bench``, or ``python -m benchmarks --help`` for the options.

======================  ==============================================================================
``problems``            the data: generated in the paper's shapes, and real data under $COALFACE_DATA
``machine``             one core, fresh processes, wall and CPU seconds, copy bandwidth, peak memory
``vw``                  Vowpal Wabbit on the same data: files, command lines, its driver on a cache
``vw_worker``           the process that Vowpal Wabbit is timed in
``interleaved``         ours, theirs, ours, theirs: a ratio with its range
``memory_worker``       the process that the memory of simulate is measured in
``simulation``          simulate: speed, share of the copy bandwidth, memory
``prediction``          predict: speed
``single_rows``         one example at a time: ask and tell
``parsing``             the reader of VW text
``startup``             import, ``coalface --help``, time to the first result
``embeddings``          RidgeCoalClassifier: speed in batches and one by one, on all cores, run on its own
``figures, report``     what was measured and its target; the table and the JSON
======================  ==============================================================================
"""
