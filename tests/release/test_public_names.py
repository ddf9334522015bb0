"""What is public is one list: it equals the code, and the reference is made from it."""

import doctest
import importlib
import inspect
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PUBLIC = tomllib.loads((ROOT / "docs" / "reference" / "public.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_module_has_the_listed_names_and_no_others(module):
    assert PUBLIC[module] == sorted(importlib.import_module(module).__all__)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_exists_and_is_documented(module):
    found = importlib.import_module(module)
    for name in PUBLIC[module]:
        value = getattr(found, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (value.__doc__ or "").strip(), f"{module}.{name}"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_class_and_function_has_an_example_that_the_suite_runs(module):
    found = importlib.import_module(module)
    for name in PUBLIC[module]:
        value = getattr(found, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            examples = doctest.DocTestParser().get_examples(value.__doc__ or "")
            assert any(example.want for example in examples), f"{module}.{name}"
            assert value.__module__.startswith("coalface"), f"{module}.{name}: pytest collects src alone"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_member_of_a_public_class_is_documented(module):
    found = importlib.import_module(module)
    for name in PUBLIC[module]:
        value = getattr(found, name)
        members = vars(value).items() if inspect.isclass(value) else ()
        for member, what in members:
            what = getattr(what, "fget", None) or getattr(what, "__func__", what)
            if inspect.isfunction(what) and not member.startswith("_"):
                assert inspect.getdoc(getattr(value, member)), f"{module}.{name}.{member}"


def test_every_room_with_a_public_list_is_listed():
    packages = [
        path for path in (ROOT / "src" / "coalface").glob("*/__init__.py") if "__all__" in path.read_text("utf-8")
    ]
    rooms = {f"coalface.{path.parent.name}" for path in packages} - {"coalface.cli"}  # its interface is the commands
    assert rooms <= set(PUBLIC)
