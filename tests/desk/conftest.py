"""Fresh desks, their clock, a service, and callers."""

import pytest

from coalface.desk.service.desk import Desk
from tests.desk.desks import open_desk
from tests.desk.interviewing import FOUR
from tests.desk.projects import Clock, small_project
from tests.desk.serving import client_of, served
from tests.desk.visitor import Visitor
from tests.studies.browser import find_browser


def pytest_ignore_collect(collection_path, config):
    """Whether to leave out the fuzz tests: they are generated at collection, which takes a running service."""
    return True if collection_path.name == "test_fuzz.py" and config.option.markexpr == "not slow" else None


@pytest.fixture
def desk(tmp_path):
    with open_desk(tmp_path) as found:
        yield found


@pytest.fixture
def address(desk):
    with served(desk) as found:
        yield found


def _caller(name=None):
    """A fixture: an HTTP client with the token of this person."""

    @pytest.fixture
    def caller(address):
        with client_of(address, name) as client:
            yield client

    return caller


as_ann, as_bob, as_eve, stranger = _caller("ann"), _caller("bob"), _caller("eve"), _caller()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Visitor(find_browser(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def visitor(browser):
    browser.set_screen()
    return browser


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk_of(tmp_path, clock):
    """Makes a desk that asks about one label at a time, closed at the end."""
    desks = []

    def make(**settings):
        settings = {"learner": {"rule": {"warm_up": 0}}, "labels": FOUR} | settings
        desks.append(Desk(small_project(tmp_path / f"mail-{len(desks)}", **settings), clock=clock))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()
