"""One service for all tests that only look at it, and fresh ones for those that fill it."""

import pytest

from tests.app.fake_desk import FakeDesk
from tests.app.serving import client_of, served


@pytest.fixture
def desk():
    return FakeDesk()


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
