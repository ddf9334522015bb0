"""Render HTML pages that need nothing else: no scripts, no fonts, no network; for screen, dark screen and paper."""

import os
import platform
import re
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from coalface.errors import counted
from coalface.extras import needed_for
from coalface.files.atomic import atomic_write
from coalface.report.figure_style import css_variables
from coalface.report.number_format import listed
from coalface.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def page(template: str, title: str, lead: str, *, footer: str = "", **values: Any) -> str:
    """The page of a template; without a ``footer``, its last line gives the versions of the software.

    >>> page("base.html", "A run", "3 < 4 costs").startswith("<!DOCTYPE html>")
    True
    """
    return (
        environment()
        .get_template(template)
        .render(
            title=title,
            lead=lead,
            footer=footer or f"Made with {with_versions(package_versions())}.",
            light=css_variables(dark=False),
            dark=css_variables(dark=True),
            **values,
        )
    )


@cache
def environment() -> "Environment":
    """The templates of this folder; they escape every value."""
    with needed_for("A page"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
    templates = Environment(
        loader=PackageLoader("coalface.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    templates.filters.update(drawn_width=_drawn_width, listed=listed, counted=counted)
    return templates


def _drawn_width(svg: str) -> str:
    """The width at which a figure was drawn; a point becomes a pixel, so that its text has 10 pixels.

    >>> _drawn_width('<svg viewBox="0 0 604.8 309.6"></svg>')
    '605'
    """
    box = re.search(r'viewBox="0 0 ([\d.]+) ', svg)
    assert box is not None
    return f"{float(box.group(1)):.0f}"


def write_page(path: str | os.PathLike[str], html: str) -> None:
    """Write the page; it appears whole or not at all."""
    with atomic_write(path) as file:
        file.write(html.encode())


def package_versions() -> dict[str, str]:
    """The versions of the software that computes the numbers.

    >>> sorted(package_versions())[:3]
    ['Python', 'coalface', 'matplotlib']
    """
    versions = {"coalface": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):  # the last one draws, and need not be there
            versions[package] = version(package)
    return versions


def with_versions(versions: dict[str, str]) -> str:
    """Names and versions in a row.

    >>> with_versions({"coalface": "1.0", "Python": "3.11"})
    'coalface 1.0, Python 3.11'
    """
    return ", ".join(f"{name} {number}" for name, number in versions.items())
