"""A pool on a real Dask cluster: a killed worker loses nothing, and a worker needs not see the model file."""

import signal

import pytest
from benchmarks.dask_cluster import Cluster
from pyarrow import parquet

from coalface.studies.pools import predict_pool, rank_pool

from .made_pools import made_examples, made_learner, save_model, write_parts

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    cluster.wait_for(2)
    yield cluster
    cluster.stop()


@pytest.fixture
def pool(tmp_path):
    X = made_examples(60_000, repeated=0.1)
    model = save_model(made_learner(), tmp_path / "m.coal")
    return model, write_parts(tmp_path / "pool", X, [5000 * k for k in range(1, 12)])


def contents(folder):
    return {path.name: parquet.read_table(path) for path in folder.glob("*.parquet")}


@pytest.mark.parametrize("by", ["path", "bytes"])
def test_the_cluster_writes_what_threads_write(cluster, pool, tmp_path, by, monkeypatch):
    model, pattern = pool
    if by == "bytes":  # as on machines that do not see the model
        monkeypatch.setattr("coalface.studies.executors.os.path.isfile", callable)  # never true of a path
    outcome = predict_pool(model, [pattern], out=tmp_path / "dask", executor=f"dask://{cluster.address}")
    monkeypatch.undo()
    predict_pool(model, [pattern], out=tmp_path / "threads")
    assert outcome.rows == 60_000
    assert contents(tmp_path / "dask") == contents(tmp_path / "threads")


@pytest.mark.parametrize("verb", ["predict", "rank"])
def test_a_worker_killed_midway_loses_nothing(cluster, pool, tmp_path, verb):
    model, pattern = pool
    killed = []

    def kill_one(done, total):
        if done == 3:
            killed.append(cluster.kill_worker())
            cluster.add_worker()

    for name, where, progress in (("dask", f"dask://{cluster.address}", kill_one), ("threads", "threads", None)):
        (tmp_path / name).mkdir()
        if verb == "predict":
            outcome = predict_pool(model, [pattern], out=tmp_path / name, executor=where, progress=progress)
        else:
            outcome, _ = rank_pool(
                model, [pattern], tmp_path / name / "r.parquet", 500, executor=where, progress=progress
            )
        assert outcome.files == 12
        assert outcome.rows in (55_000, 60_000)  # a file that the killed worker had just written is not scored again
    cluster.wait_for(2)
    assert killed == [-signal.SIGKILL]
    found = contents(tmp_path / "dask")
    assert len(found) == (12 if verb == "predict" else 1)
    assert found == contents(tmp_path / "threads")
    assert not list((tmp_path / "dask").glob(".*"))
