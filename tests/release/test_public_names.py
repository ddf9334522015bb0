"""What is public is one list: it equals the code, and the reference is made from it."""

import ast
import doctest
import importlib
import inspect
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "coalface"
LISTS = tomllib.loads((ROOT / "docs" / "reference" / "public.toml").read_text(encoding="utf-8"))
PROMISED, INTERNAL, DOCUMENTED = LISTS["promised"], LISTS["internal"], LISTS["documented"]
PUBLIC = {module: [*PROMISED.get(module, ()), *DOCUMENTED.get(module, ())] for module in [*PROMISED, *DOCUMENTED]}
CORE = ("files", "data", "rounds", "kernels", "models", "learner", "buying", "evaluate", "report")
DOORS = [f"coalface.{room}" for room in CORE]
NAMES = [(module, name) for module, names in PROMISED.items() for name in names]


def value_of(module, name):
    return getattr(importlib.import_module(module), name)


def members_of(kind):
    """The public methods, properties and fields that a class of this package gives; scikit-learn's are not ours."""
    if not inspect.isclass(kind):
        return set()
    ours = [one for one in kind.__mro__ if one.__module__.startswith("coalface")]
    found = set(chain.from_iterable([*vars(one), *getattr(one, "__dataclass_fields__", ())] for one in ours))
    return {
        name for name in found if not name.startswith("_") and not is_request(name) and hasattr_or_field(kind, name)
    }


def is_request(name):
    return name.startswith("set_") and name.endswith("_request")


def hasattr_or_field(kind, name):
    return hasattr(kind, name) or name in getattr(kind, "__dataclass_fields__", ())


def test_at_most_sixty_names_are_promised():
    assert len(NAMES) <= 60
    assert len({name for _, name in NAMES}) == len(NAMES)


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_the_members_of_a_promised_name_are_those_that_are_listed(module, name):
    kind, listed = value_of(module, name), {*PROMISED[module][name], *INTERNAL.get(name, ())}
    values = [value_of(*other) for other in NAMES]
    parents = [
        one for one in values if inspect.isclass(one) and one is not kind and one in getattr(kind, "__mro__", ())
    ]
    inherited = set().union(*map(members_of, parents))
    assert members_of(kind) - inherited == listed


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_module_has_the_listed_names(module):
    found = set(importlib.import_module(module).__all__) - {"__version__"}
    assert set(PUBLIC[module]) == found if module not in DOORS else set(PUBLIC[module]) <= found


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_exists_and_is_documented(module):
    for name in PUBLIC[module]:
        value = value_of(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (value.__doc__ or "").strip(), f"{module}.{name}"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_class_and_function_has_an_example_that_the_suite_runs(module):
    for name in PUBLIC[module]:
        value = value_of(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            examples = doctest.DocTestParser().get_examples(value.__doc__ or "")
            assert any(example.want for example in examples), f"{module}.{name}"
            assert value.__module__.startswith("coalface"), f"{module}.{name}: pytest collects src alone"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_member_of_a_public_class_is_documented(module):
    for name in PUBLIC[module]:
        value = value_of(module, name)
        members = vars(value).items() if inspect.isclass(value) else ()
        for member, what in members:
            what = getattr(what, "fget", None) or getattr(what, "__func__", what)
            if inspect.isfunction(what) and not member.startswith("_"):
                assert inspect.getdoc(getattr(value, member)), f"{module}.{name}.{member}"


@pytest.mark.parametrize("module", DOORS)
def test_every_name_of_a_door_leads_somewhere(module):
    door = importlib.import_module(module)
    assert sorted(door.__all__) == sorted(set(door.__all__))
    for name in door.__all__:
        assert getattr(door, name) is not None


def imports_of(path):
    """The modules of this package that a file imports from, with the names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, one.name) for one in node.names)


def test_products_enter_the_core_through_its_doors():
    within = {f"coalface.{room}": {path.stem for path in (SOURCE / room).iterdir()} for room in CORE}
    strays = []
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] in CORE or path.parent == SOURCE:
            continue
        for module, name in imports_of(path):
            room = ".".join(module.split(".")[:2])
            if room in DOORS and module != room and name not in within[room]:
                strays.append(f"{path.relative_to(SOURCE)}: {module}.{name}")
    assert not strays
