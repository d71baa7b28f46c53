"""The pages of the documentation site as they are collected, before the engine builds them."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, TypeVar

import pytest

import typed_nnx
from docs._site import assemble, public_names, reference_pages
from docs._site.build import CONFIG
from docs._site.markdown_parts import anchors_of, links_of
from tests.support.type_checkers import REPOSITORY
from typed_nnx_codegen.sarif.log import Project, log_of
from typed_nnx_codegen.sarif.reports import Report
from typed_nnx_mypy.errorcodes import ALL

PAGES = assemble.written_pages()


def pages_in(nav: Any) -> list[str]:
    """Return the pages of a navigation, which nests lists and tables."""
    match nav:
        case str():
            return [nav]
        case dict():
            return [page for part in nav.values() for page in pages_in(part)]
        case _:
            return [page for part in nav for page in pages_in(part)]


# -- navigation ----------------------------------------------------------------------------------


def test_every_page_is_in_the_navigation_once_and_nothing_else_is() -> None:
    nav = pages_in(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"])
    pages = [name for name in assemble.assembled() if not name.startswith("source/")]
    assert Counter(nav) == Counter(pages)


# -- links -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_lead_to_files_and_anchors_of_the_repository(name: str) -> None:
    file = PAGES[name]
    assert list(filter(None, (broken(link, file) for link in links_of(file.read_text())))) == []


def broken(link: str, file: Path) -> str:
    """Return a link that leads nowhere, with the reason; nothing where it is right or external."""
    address, _, anchor = link.partition("#")
    if address.startswith(("http://", "https://")):
        return ""
    target = (file.parent / address).resolve() if address else file
    if not target.exists():
        return f"{link}: there is no such file"
    if anchor and anchor not in anchors_of(target.read_text(encoding="utf-8")):
        return f"{link}: there is no such anchor"
    return ""


def test_a_link_to_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two` three\n\n```\n[a](b.md)\n```\n[c](d.md) [e](#f) [g](#one-two-three)"
    )
    found = [broken(link, page) for link in links_of(page.read_text())]
    assert found == ["d.md: there is no such file", "#f: there is no such anchor", ""]


def test_links_that_leave_the_documentation_lead_to_pages_of_the_site() -> None:
    pages = assemble.assembled()
    assert "[The README](readme.md)" in pages["index.md"]
    assert "](source/examples/vae.py.md)" in pages["examples.md"]
    assert (REPOSITORY / "examples/vae.py").read_text().rstrip() in pages[
        "source/examples/vae.py.md"
    ]
    assert "](tutorial.md)" in pages["readme.md"] or "](guides/types.md)" in pages["readme.md"]
    assert "](docs/" not in pages["readme.md"]


# -- the reference -------------------------------------------------------------------------------


def test_the_names_that_are_read_from_the_source_are_those_that_the_package_has() -> None:
    modules = {name.rpartition(".")[2] for name in public_names.public_modules()}
    found = set(public_names.names_of("typed_nnx"))
    there = {
        name
        for name, value in vars(typed_nnx).items()
        if not (name.startswith("_") or isinstance(value, TypeVar))
    } - {"TYPE_CHECKING"}
    assert found - there == set()
    assert there - found <= modules


def test_every_public_name_has_a_place_in_the_reference() -> None:
    documented = reference_pages.documented()
    missing = [
        f"{module}.{name}"
        for module in public_names.public_modules()
        for name in public_names.names_of(module)
        if f"{module}.{name}" not in documented
        and public_names.file_of(public_names.definition_of(f"{module}.{name}")) is None
    ]
    assert missing == []


def test_no_name_stands_in_the_reference_twice() -> None:
    names = [name for page in reference_pages.pages() for name in page.names()]
    definitions = Counter(map(public_names.definition_of, names))
    assert [name for name, count in definitions.items() if count > 1] == []


def test_the_page_of_the_exceptions_has_all_that_errors_has() -> None:
    (page,) = (page for page in reference_pages.pages() if page.file == "errors")
    assert set(page.names()) == {
        f"typed_nnx.errors.{name}" for name in public_names.names_of("typed_nnx.errors")
    }


def test_every_module_has_a_section_with_an_anchor_for_each_path() -> None:
    text = reference_pages.modules()
    for module in public_names.public_modules():
        assert f"## `{module}` {{ #{module} }}" in text
    assert 'id="typed_nnx.nn.linear.Linear"></span>[`Linear`][typed_nnx.Linear]' in text


# -- the index of error codes ----------------------------------------------------------------------


@pytest.mark.parametrize("code", [each.code for each in ALL])
def test_an_error_code_has_a_row_and_the_anchor_that_the_sarif_log_names(code: str) -> None:
    page = (REPOSITORY / "docs" / "mypy-plugin.md").read_text(encoding="utf-8")
    report = Report("a.py", 1, 0, 1, 1, "what", "", code, "error")
    project = Project(REPOSITORY, REPOSITORY, "", {}, docs="https://example.org/mypy-plugin/")
    log: Any = log_of([report], project)
    address = log["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"]
    anchor = address.removeprefix("https://example.org/mypy-plugin/#")
    assert page.count(f"| [`{code}`](#{anchor}) |") == 1
    assert anchor in anchors_of(page)
