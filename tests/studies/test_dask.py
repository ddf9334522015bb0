"""A sweep on a real Dask cluster: a scheduler and two worker processes, talking over TCP."""

import signal

import pytest
from benchmarks.dask_cluster import Cluster

from coalface.studies.executors import DaskExecutor
from coalface.studies.sweep import run_sweep

from .studies import LINES, lines_of, numbers_of, small_study

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")]
# Whole passes over the digits: long enough for a worker to die in the middle of one.
STUDY = small_study(permutations=4, data='["digits"]', lines=LINES.replace("[0.1, 0.3]", "[0.1, 0.2, 0.3]"))


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    run_sweep(STUDY, folder, "threads", 2)
    return numbers_of(folder)


@pytest.mark.parametrize("by", ["path", "scattering"])
def test_a_worker_killed_in_the_middle_loses_no_cell_and_doubles_none(cluster, undisturbed, tmp_path, by, monkeypatch):
    if by == "scattering":  # as on machines that do not see our files
        monkeypatch.setattr("coalface.studies.executors.os.path.isdir", lambda _: False)
    killed, travelled = [], []
    share = DaskExecutor.share
    monkeypatch.setattr(DaskExecutor, "share", lambda *given: travelled.append(share(*given)) or travelled[-1])

    def kill_one(done, total, failed):
        if done == len(undisturbed) // 3:
            killed.append(cluster.kill_worker())

    cluster.wait_for(2)
    outcome = run_sweep(STUDY, tmp_path / "out", f"dask://{cluster.address}", progress=kill_one)
    assert killed == [-signal.SIGKILL]
    assert [isinstance(shared, str) for shared in travelled] == [by == "path"]
    assert (outcome.finished, outcome.failed) == (STUDY.n_cells, 0)
    assert numbers_of(tmp_path / "out") == undisturbed
    assert sorted(lines_of(tmp_path / "out")) == sorted(undisturbed)
