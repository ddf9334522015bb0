"""Pools of examples in many files, scored file by file, in bounded memory, on one machine or a cluster.

``predict_pool`` writes the predictions of every file, ``rank_pool`` the examples most worth asking about. Both run one
task per file with the executors of sweeps. A finished file is not read again, unless it or the model has changed.
"""

from coalface.studies.pools.predictions import predict_pool
from coalface.studies.pools.ranking import rank_pool
from coalface.studies.pools.tasks import PoolOutcome

__all__ = ["PoolOutcome", "predict_pool", "rank_pool"]
