"""Settings that all tests share."""

import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from coalface import CoalClassifier
from tests.rounds import postgres

# The first call of a kernel compiles it, so a deadline would judge the compiler; derandomised, a failure repeats.
settings.register_profile(
    "coalface", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("coalface")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start deaf to Ctrl-C


@pytest.fixture
def learner():
    """A learner of three labels that has seen three examples."""
    return CoalClassifier(classes=["a", "b", "c"]).tell(np.eye(3), np.eye(3))


@pytest.fixture(scope="session")
def postgres_server():
    """The address of a PostgreSQL server, with {} for the name of a database."""
    if postgres.reason_to_skip():
        pytest.skip(postgres.reason_to_skip())
    with postgres.server() as address:
        yield address
