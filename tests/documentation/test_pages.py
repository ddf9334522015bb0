"""Every block and command of README.md and docs/ runs and prints what the page shows, or has a reason not to."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
import sklearn

from tests.documentation.blocks import PAGES, ROOT, items, without_comment, words_of
from tests.documentation.roles import NOT_RUN, SHOWN, WRITTEN, commands, entry, is_left_out, roles, verb_of
from tests.documentation.running import run_commands, run_python, run_session, same
from tests.documentation.surroundings import CHANGES, CHECKS, FILES, NUMBERS_VARY, changed

RUN = {"python", "commands", "session", "written", "shown", "output"}
TO_RUN = [page for page in PAGES if any(role in RUN for _, role in roles(page))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for a page that leaves nothing behind in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COALFACE_DATA", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr("coalface.cli.screen.QUIET_SECONDS", float("inf"))  # a slow machine would show its progress
    with sklearn.config_context():
        yield tmp_path
    sys.modules.pop("judges", None)  # of labelling.md


@pytest.mark.parametrize("page", TO_RUN)
def test_a_page_runs_from_top_to_bottom_and_prints_what_it_shows(page, folder, capsys):
    FILES.get(page, lambda: None)()
    steps = list(roles(page))
    outputs = {
        item: next((r for i, r in steps[n + 1 :] if i.kind != "inline"), "") for n, (item, _) in enumerate(steps)
    }
    names, printed, exact = {"__name__": "page"}, [], True
    for item, role in steps:
        if role == "python":
            printed, exact = [run_python(item, names, comments=outputs[item] != "output")], True
        elif role == "session":
            run_session(item)
        elif role == "commands":
            lines = [line for line in item.lines if not is_left_out(page, line)]
            told = run_commands(changed(page, "\n".join(lines)).splitlines())
            if item.kind != "inline":
                printed, exact = told, page not in NUMBERS_VARY
        elif role == "written":
            Path(entry(WRITTEN, item)).write_text(changed(page, item.text), encoding="utf-8")
        elif role == "shown":
            assert item.text in Path(entry(SHOWN, item)).read_text(encoding="utf-8"), item
        elif role == "output":  # of all commands of the block, or of the last ones
            told = ["".join(printed[first:]) for first in range(len(printed))]
            assert any(same(item.text, text, exact) for text in told), f"{item}:\n{told[0]}"
    CHECKS.get(page, lambda _: None)(names)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs_or_has_a_reason_not_to(page):
    assert PAGES[page].count("```") == 2 * sum(item.kind != "inline" for item in items(page))
    assert [str(item) for item, role in roles(page) if not role] == []


def test_every_entry_of_the_tables_is_about_a_page_as_it_is():
    for table in (NOT_RUN, WRITTEN, SHOWN):
        for page, starts in table.items():
            texts = [item.text for item in items(page)]
            lines = {without_comment(line) for text in texts for line in text.splitlines()}
            assert [s for s in starts if s not in lines and not any(text.startswith(s) for text in texts)] == []
    for page, changes in CHANGES.items():
        assert [old for old in changes if old not in PAGES[page]] == []
    assert {*FILES, *CHECKS, *NUMBERS_VARY} <= set(TO_RUN)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_has_a_verb_and_options_that_exist(page):
    for item in items(page):
        for command in commands(item):
            words, _ = words_of(command)
            verb, rest = verb_of(words)
            if words[0].isupper():  # VERB
                continue
            assert not hasattr(verb, "commands") or rest[:1] in ([], ["--help"]), f"{item}: coalface {command}"
            known = {name for option in verb.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
            given = {
                word.split("=")[0] for word in rest[: [*rest, "--"].index("--")] if word.startswith("-") and word != "-"
            }
            assert given <= known, f"{item}: coalface {command}"


def test_every_form_is_json():
    forms = [item for page in PAGES for item in items(page) if item.kind == "json"]
    assert len(forms) >= 3
    for form in forms:
        json.loads(form.text)


def test_every_extra_and_every_target_of_make_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for page, text in PAGES.items():
        assert set(re.findall(r"coalface\[(\w+)\]", text)) <= set(project["optional-dependencies"])
        lines = [
            *re.findall(r"`(?:\w+=\S+ )?(make [^`]+)`", text),
            *(line for item in items(page) for line in item.lines),
        ]
        assert {line.split()[1] for line in lines if line.startswith("make ")} <= set(targets)


def test_every_script_and_benchmark_that_a_page_names_exists():
    for text in PAGES.values():
        for path in re.findall(r"`?python ((?:examples|docs|studies)/\S+\.py)", text):
            assert (ROOT / path).is_file(), path
        for module in re.findall(r"python -m (benchmarks\.\w+)", text):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
