"""A fresh desk, its service, and callers."""

import pytest

from tests.app.desks import open_desk
from tests.app.serving import client_of, served


@pytest.fixture
def desk(tmp_path):
    with open_desk(tmp_path) as found:
        yield found


@pytest.fixture
def address(desk):
    with served(desk) as found:
        yield found


@pytest.fixture
def as_ann(address):
    with client_of(address, "ann") as client:
        yield client


@pytest.fixture
def as_bob(address):
    with client_of(address, "bob") as client:
        yield client


@pytest.fixture
def as_eve(address):
    with client_of(address, "eve") as client:
        yield client


@pytest.fixture
def stranger(address):
    with client_of(address) as client:
        yield client
