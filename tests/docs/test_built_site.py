"""The documentation site as the engine builds it: complete, and on its own."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urljoin

import pytest

from docs._site import build, public_names, reference_pages
from docs._site.assemble import written_pages
from docs._site.markdown_parts import anchors_of
from tests.support.once import once

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("zensical") is None, reason="the extra `docs` is not installed"),
]
# What a browser loads with a page; it follows other links only when somebody clicks.
_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
_LOADED_BY_CSS = re.compile(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)")


class PageParser(HTMLParser):
    """Collects the anchors, links and loaded addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.anchors += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        address = given.get(_LOADED.get(tag, ""))
        if address and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(address)


@pytest.fixture(scope="session")
def complaints(shared_folder: Path) -> str:
    """Build the site, once for all workers of a test run; return what the engine found wrong."""
    project = shared_folder / "docs"
    project.mkdir(exist_ok=True)
    said: str = once("site", shared_folder, lambda: build.complaints(project))
    return said


@pytest.fixture(scope="session")
def site(shared_folder: Path, complaints: str) -> Path:
    """The folder of the site."""
    folder = shared_folder / "docs" / "site"
    assert folder.is_dir(), complaints
    return folder


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, PageParser]:
    """The pages of the site by address, which begins and ends with a slash."""
    return {
        f"/{path.parent.relative_to(site).as_posix()}/".replace("/./", "/"): PageParser(
            path.read_text(encoding="utf-8")
        )
        for path in site.rglob("index.html")
    }


def test_the_engine_finds_no_broken_link_and_no_docstring_that_does_not_fit(
    complaints: str,
) -> None:
    assert complaints == ""


def test_every_page_that_people_wrote_is_there(pages: dict[str, PageParser]) -> None:
    for name in written_pages():
        address = f"/{name.removesuffix('.md')}/".replace("/index/", "/")
        assert address in pages


def test_the_engine_forms_the_anchors_that_links_in_the_repository_use(
    pages: dict[str, PageParser],
) -> None:
    for name, file in written_pages().items():
        address = f"/{name.removesuffix('.md')}/".replace("/index/", "/")
        expected = set(anchors_of(file.read_text(encoding="utf-8")))
        # The heading of the page has none where the engine makes it the title.
        assert expected - set(pages[address].anchors) <= set(anchors_of(file.read_text())[:1])


def test_every_public_name_has_an_anchor_on_its_page(pages: dict[str, PageParser]) -> None:
    missing = [
        name
        for page in reference_pages.pages()
        for name in page.names()
        if pages[f"/reference/{page.file}/"].anchors.count(name) != 1
    ]
    assert missing == []


def test_every_path_that_a_name_can_be_imported_by_has_an_anchor(
    pages: dict[str, PageParser],
) -> None:
    anchors = {anchor for page in pages.values() for anchor in page.anchors}
    paths = {
        f"{module}.{name}"
        for module in public_names.public_modules()
        for name in public_names.names_of(module)
        if public_names.file_of(public_names.definition_of(f"{module}.{name}")) is None
    }
    # Below the package itself an older name is a second one of what stands there.
    assert paths - anchors <= {"typed_nnx.abstract_with_sharding"}


def test_links_inside_the_site_lead_to_pages_and_anchors(pages: dict[str, PageParser]) -> None:
    broken = []
    for address, page in pages.items():
        for link in page.links:
            target, _, anchor = urljoin(address, unquote(link)).partition("#")
            if target in pages and (
                not anchor or anchor in (*pages[target].anchors, "__codelineno")
            ):
                continue
            if not target.startswith(("http://", "https://")):
                broken.append(f"{address}: {link}")
    assert broken == []


def test_pages_load_nothing_from_elsewhere(site: Path, pages: dict[str, PageParser]) -> None:
    loaded = {address for page in pages.values() for address in page.loaded}
    for sheet in site.rglob("*.css"):
        loaded |= set(_LOADED_BY_CSS.findall(sheet.read_text(encoding="utf-8")))
    assert loaded
    assert [each for each in loaded if re.match(r"(?:https?:)?//", each)] == []


def test_no_page_has_what_the_script_of_the_engine_would_load_from_elsewhere(site: Path) -> None:
    marks = re.compile(r'class="[^"]*\b(?:mermaid|glightbox|pyodide)\b')
    found = [path for path in site.rglob("*.html") if marks.search(path.read_text("utf-8"))]
    assert found == []


def test_the_search_finds_names_of_the_reference_and_words_of_guides(site: Path) -> None:
    text = (site / "search.json").read_text(encoding="utf-8")
    items = json.loads(text)["items"]
    assert {"reference/layers/", "guides/filters/"} <= {
        item["location"].partition("#")[0] for item in items
    }
    assert "reference/layers/#typed_nnx.Linear" in {item["location"] for item in items}


def test_a_function_with_generated_stubs_shows_their_overloads(site: Path) -> None:
    page = (site / "reference" / "graph" / "index.html").read_text(encoding="utf-8")
    (count,) = set(
        re.findall(r"What type checkers read: (\d+) overloads? of the stub package", page)[:1]
    )
    stubs = (
        public_names.REPOSITORY / "stubs/typed_nnx-stubs/_graph/split_overloads.pyi"
    ).read_text()
    assert int(count) == len(re.findall(r"^def split\(", stubs, flags=re.MULTILINE))
