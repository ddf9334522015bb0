"""Available memory: that of the machine, or the limit of a container."""

import pytest

from coalface.models import device as memory


@pytest.fixture
def container(tmp_path, monkeypatch):
    """Give a container a limit."""

    def make(limit):
        (tmp_path / "limit").write_text(f"{limit}\n")
        monkeypatch.setattr(memory, "_LIMITS", (tmp_path / "limit", tmp_path / "none"))

    return make


@pytest.fixture
def machine(tmp_path, monkeypatch):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000 kB\nMemAvailable: 5000 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)


def test_available_memory_is_at_most_the_limit_of_the_container(machine, container):
    container(600_000)
    assert memory.available_bytes() == 600_000
    container(1_000_000_000)
    assert memory.available_bytes() == 5_000 * 1024
    container("max")
    assert memory.available_bytes() == 5_000 * 1024


def test_all_memory_of_the_machine_counts_if_the_system_does_not_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "_LIMITS", ())
    assert memory.available_bytes() > 100_000_000
