"""The report of the demo is one page that needs no other file, and its pictures are current."""

from __future__ import annotations

import base64
import shutil
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from examples.linen_digits import migration, planted
from examples.linen_digits.checking import SAID, plant, reports_of
from examples.linen_digits.html_parts import code_html, diff_html, reports_html, table_html
from examples.linen_digits.pictures import FOLDER, PICTURES
from tests.examples.linen_digits_run import Page, Run, stage_in


@pytest.fixture(scope="module")
def page(demo: Run) -> Page:
    return Page((demo.out / "report.html").read_text(encoding="utf-8"))


def test_the_report_is_well_formed(page: Page) -> None:
    assert page.problems == []
    assert len(page.ids) == len(set(page.ids))


def test_every_link_of_the_report_leads_somewhere(demo: Run, page: Page) -> None:
    assert len(page.links) > 15
    for link in page.links:
        parts = urlsplit(link)
        assert not parts.scheme
        assert not parts.netloc
        if parts.path:
            assert (demo.out / parts.path).exists(), link
        else:
            assert parts.fragment in page.ids, link


def test_a_browser_loads_nothing_but_the_page(page: Page) -> None:
    (picture,) = page.loaded
    kind, _, data = picture.partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")


def test_the_report_has_all_that_the_commands_said(demo: Run, page: Page) -> None:
    diff = (demo.out / "migrate.diff").read_text()
    assert [line for line in diff.splitlines() if line not in page.text] == []
    for line in (demo.out / SAID).read_text().splitlines()[:-1]:
        assert line.partition(" error: ")[2].partition(" Fix: ")[0] in page.text
    assert "typed-nnx migrate --linen digit_reader" in page.text


def test_texts_of_programs_are_no_html() -> None:
    for html in (code_html("<b>&"), diff_html("+<b>&"), table_html(["<b>&"], [["<i>"]])):
        assert "<b>" not in html
        assert "<i>" not in html
        assert Page(html).problems == []
    assert reports_html([]) == ""


def test_a_diff_has_a_color_for_each_kind_of_line() -> None:
    html = diff_html("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same")
    assert html.count('class="line head"') == 2
    for kind, text in (("gap", "@@ -1 +1 @@"), ("old", "-old"), ("new", "+new"), ("", " same")):
        assert f'<span class="line {kind}">{text}</span>' in html


CELL = 12.2  # the width of a character


def lines_of(name: str) -> list[str]:
    """Return the lines of text in a picture, from top to bottom."""
    lines: dict[float, str] = defaultdict(str)
    for element in ElementTree.parse(FOLDER / f"{name}.svg").iter():
        # The title is not among the lines.
        if element.tag.endswith("}text") and "clip-path" in element.attrib:
            x, y = float(element.attrib["x"]), float(element.attrib["y"])
            # Blanks are left out of the picture.
            line = lines[y].ljust(round(x / CELL))
            lines[y] = line + "".join(element.itertext()).replace("\xa0", " ")
    return [lines[y].rstrip() for y in sorted(lines)]


def test_the_picture_of_the_diff_is_what_the_codemod_writes(demo: Run) -> None:
    shown = "\n".join(line.rstrip() for line in lines_of("migrate-diff"))
    expected = migration.excerpt((demo.out / "migrate.diff").read_text())
    assert len(expected.splitlines()) > 40
    assert [line for line in expected.splitlines() if line.strip() and line not in shown] == []


def test_the_picture_of_the_reports_is_what_mypy_reports(demo: Run, tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    shutil.copytree(demo.stage.package, stage.package)
    plant(stage, planted.planted_text())
    reports = reports_of(stage, (demo.out / SAID).read_text())
    assert len(reports) == 2
    shown = "\n".join(lines_of("mypy-report"))
    for one in reports:
        for text in (f"{one.file}:{one.line}", one.code, one.source, *one.text.split(" Fix: ")):
            assert text in shown


def test_the_picture_of_completions_is_what_the_language_server_answers(page: Page) -> None:
    lines = [" ".join(line.replace("│", " ").split()) for line in lines_of("editor-completion")]
    for code, fields in page.popups.items():
        start = lines.index(f"{code}▏")
        shown = [line for line in lines[start + 1 :] if line.strip("╭─┬╮╰┴╯ ")]
        assert shown[: len(fields)] == [f"{name} {kind}" for name, kind in fields]


@pytest.mark.parametrize("name", [picture.name for picture in PICTURES])
def test_a_picture_loads_nothing_and_names_no_machine(name: str) -> None:
    path = FOLDER / f"{name}.svg"
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert path.stat().st_size < 100_000
    for foreign in ("http", "url(//", "@font-face", "@import", "/tmp/", "/home/", "/work/"):
        assert foreign not in text
