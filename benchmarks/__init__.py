"""Benchmarks of speed and memory on one core, most of them as ratios to Vowpal Wabbit in the same run.

Run ``make bench``, or ``python -m benchmarks --help`` for the options. The modules from ``embeddings`` to ``walks`` are
run alone, as in ``python -m benchmarks.embeddings``.

======================  ==============================================================================
``problems``            the data: generated in the paper's shapes, and real data under $COALFACE_DATA
``machine``             pinning to one core, fresh processes, clocks, copy bandwidth, peak memory
``vw``                  Vowpal Wabbit on the same data: files, command lines, its driver on a cache
``vw_worker``           the process in which Vowpal Wabbit is timed
``interleaved``         alternating runs of both sides: a ratio with its range
``memory_worker``       the process in which the memory of simulate is measured
``simulation``          simulate: speed, share of the copy bandwidth, memory
``prediction``          predict: speed
``single_rows``         one example at a time: ask and tell
``parsing``             the reader of VW text
``startup``             import, ``coalface --help``, time to the first result
``embeddings``          the ridge model: speed in batches and one by one, on all cores
``tagging``             SequenceTagger against VW's search and a CRF
``rare_tags``           what SequenceTagger's default loses on one rare kind of name
``labels_saved``        costs saved on real data
``sweep_scaling``       a sweep on one and on two threads
``oracle_calls``        the exact model: oracle calls per end of a range
``labelling_load``      the labelling service under many annotators; ``labelling_kills``: under kills
``fork_server``         a process that starts coalface commands at once, for ``labelling_kills``
``kill_crew``           the people of ``labelling_kills``; ``kill_inspection``: what is left
``half_open``           the slow clients of ``labelling_load``
``desk_load``           a desk without HTTP under load; ``desk_against_simulation``: compared with simulate
``walks``               how many source files one action passes through
``figures, report``     measured values and their targets; the table and the JSON
======================  ==============================================================================
"""
