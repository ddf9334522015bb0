"""Random requests generated from the OpenAPI description: every response conforms to it."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from coalface.desk.service.desk import Desk
from coalface.desk.web.service import service_of
from tests.desk.desks import make_project
from tests.desk.serving import give_tokens

pytestmark = pytest.mark.slow

REQUESTS = int(os.environ.get("COALFACE_FUZZ", "25"))  # for each route and role
FOLDER = TemporaryDirectory()  # the tests are generated at collection
DESK = Desk(make_project(Path(FOLDER.name), budget={}))
give_tokens(DESK.store)
SERVICE = service_of(DESK, per_minute=1e9)
CONFIG = schemathesis.Config()
CONFIG.projects.default.generation.with_security_parameters = False  # every request has a valid token
REJECTION = CONFIG.projects.default.checks.negative_data_rejection
REJECTION.expected_statuses = [*REJECTION.expected_statuses, "413"]  # too many items may be too many bytes
DESCRIPTION = schemathesis.openapi.from_asgi("/api/v1/openapi.json", SERVICE, config=CONFIG)
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]


@pytest.mark.parametrize("name", ["ann", "eve"])
@DESCRIPTION.parametrize()
@settings(max_examples=REQUESTS, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_service_keeps_to_its_description(case, name):
    if "project" in case.path_parameters and len(case.path_parameters["project"]) % 2:
        case.path_parameters["project"] = "tickets"  # the right project name in half of the requests
    response = case.call_and_validate(headers={"authorization": f"Bearer coal_{name}"}, checks=CHECKS)
    assert response.status_code != 401  # with a valid token, every request gets past the door
