"""The documentation site: what its build adds to the pages, and the pages as they are built."""

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from tests.desk.visitor import Visitor
from tests.studies.browser import find_browser

ROOT = Path(__file__).parents[2]


def _loaded(name):
    """A module of docs/site, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_navigation_names_every_page_once_and_adds_new_ones_to_the_guides():
    navigation = _loaded("navigation")
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = navigation.named(config["nav"])
    assert len(listed) == len(set(listed))
    made = {f"reference/{name}" for name in [*_loaded("reference").python(), "command-line.md"]}
    for page in set(listed) - made:
        assert (ROOT / "docs" / page).is_file() or (ROOT / page).is_file(), page
    completed = navigation.complete(config["nav"], [*listed, "new.md"])
    (guides,) = [entry["How-to guides"] for entry in completed if "How-to guides" in entry]
    assert guides[-1] == "new.md"


def test_the_reference_has_every_verb_with_its_own_help():
    page = _loaded("reference").command_line()
    for verb in ("coalface", "coalface train", "coalface route serve", "coalface data fetch"):
        assert f"\n## {verb}\n" in page
        assert f"Usage: {verb} " in page


def test_the_reference_has_every_public_name_once_and_lists_it_on_the_first_page():
    pages = _loaded("reference").python()
    assert "\n::: coalface.CostDataset\n" in pages["coalface.md"]
    assert "\n::: coalface.paper.difficulty\n" in pages["coalface.paper.md"]
    assert "| [`CostDataset`][coalface.CostDataset] | " in pages["python.md"]
    public = _loaded("reference").documented_names()
    assert [*pages] == ["python.md", *(f"{module}.md" for module in public)]
    for module, names in public.items():
        for name in set(names) - {"__version__"}:
            assert (
                f"\n::: {module}.{name}\n" in pages[f"{module}.md"] or f"\n## {name} {{ data-" in pages[f"{module}.md"]
            )


def test_the_output_of_an_example_goes_on_to_the_next_empty_line():
    pytest.importorskip("griffe")
    example = ">>> np.eye(2)\narray([[1., 0.],\n       [0., 1.]])"
    assert _loaded("doctests").with_fences(f"{example}\n\nMore.") == f"```pycon\n{example}\n```\n\nMore."


def test_a_long_path_in_a_table_may_be_broken_after_a_step_and_nothing_else():
    breaks = _loaded("breaks")
    path = "<code>tests/kernels/test_ranges.py</code>"
    assert breaks.with_breaks(f"<p>{path}</p>") == f"<p>{path}</p>"
    assert "tests/<wbr>kernels/<wbr>test_ranges.<wbr>py" in breaks.with_breaks(f"<table>{path}</table>")
    assert breaks.with_breaks("<table><code>short.name</code></table>") == "<table><code>short.name</code></table>"


@pytest.mark.parametrize(
    ("source", "link", "found"),
    [
        ("docs/paper.md", "../studies/", "studies/README.md"),
        ("docs/tutorials/tickets.md", "../data.md", "docs/data.md"),
        ("studies/README.md", "../docs/data.md", "docs/data.md"),
        ("docs/paper.md", "nothing.md", None),
        ("docs/paper.md", "../../outside.md", None),
    ],
)
def test_links_are_those_of_the_repository(source, link, found):
    assert _loaded("outside").target(source, link) == found


def test_a_link_of_the_repository_leads_to_the_same_file_on_the_site():
    outside = _loaded("outside")
    text = "[a](../studies/README.md#b) [c](theory.md) [d](https://x.example) [e](#f)"
    changed = outside._LINK.sub(outside.relinked("docs/paper.md"), text)
    assert changed == "[a](studies/README.md#b) [c](theory.md) [d](https://x.example) [e](#f)"


def test_pages_to_look_things_up_in_weigh_less_in_the_search_than_guides():
    weight = _loaded("search").weight
    guides = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "tutorials").glob("*.md")]
    assert min(weight(page) or 1.0 for page in [*guides, "data.md", "routing.md", "how-it-works.md"]) == 1.0
    others = ["reference/coalface.md", "studies/README.md", "CHANGELOG.md", "measurements.md", "comparison.md"]
    assert max(map(weight, others)) < 0.4  # a page counts 2.5 times as much as a section


def test_a_member_that_several_classes_share_is_found_once_and_those_of_their_own_stay():
    search, described = _loaded("search"), set()
    names = ["OnlineModel.saved", "RidgeModel.saved", "OnlineModel.predict", "RidgeModel.predict"]
    html = "".join(f'<h3 id="coalface.{name}" class="doc">' for name in names)
    marked = search.with_members_once(html, described).split("<h3")[1:]
    assert [name for name, heading in zip(names, marked, strict=True) if "exclude" in heading] == [names[1]]
    assert search.with_members_once(html, described).count("exclude") == 4  # on a later page


class _Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "link", "iframe") and (address := given.get("src") or given.get("href")):
            self.loads.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.slow
def test_the_site_builds_without_a_warning_loads_nothing_from_elsewhere_and_has_no_dead_link(site):
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 35
    dead = []
    for path, page in pages.items():
        assert [address for address in page.loads if re.match(r"(https?:)?//", address)] == [], path
        for link in [*page.links, *page.loads]:
            address, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", address) or path.name == "404.html":
                continue
            target = (path.parent / address.partition("?")[0]).resolve() if address else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].anchors):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


SEARCHES = {
    "when to stop": "how-it-works.html",
    "timeout": "tutorials/choosing-a-solver.html",
    "true label": "how-it-works.html",
    "missing values": "data.html",
    "budget": "how-it-works.html",
}
TYPED = "document.querySelector('input[name=query]').dispatchEvent(new Event('keyup'))"  # until the index is loaded
FOUND = "document.querySelector('.md-search-result__item a')?.href"


@pytest.mark.slow
@pytest.mark.skipif(find_browser() is None, reason="no chromium here")
def test_a_search_without_the_network_finds_a_guide_first(site, tmp_path):
    with Visitor(find_browser(), tmp_path) as reader:
        for words, page in SEARCHES.items():
            reader.open((site / "index.html").as_uri())
            reader.wait("document.querySelector('input[name=query]')")
            reader.see("document.querySelector('input[name=query]').focus()")
            reader.type(words)
            reader.wait(f"({TYPED}, {FOUND})")
            assert reader.see(FOUND).partition("?")[0].endswith(page), words
