"""CONTRIBUTING.md and the READMEs of folders name what is there, and no package has a name twice."""

from __future__ import annotations

import collections
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "typed_nnx"
LINEN = REPOSITORY / "codegen" / "typed_nnx_codegen" / "migrate" / "linen"
ROOTS = (REPOSITORY, PACKAGE, LINEN, LINEN.parent, LINEN.parents[1])
PAGE = REPOSITORY / "CONTRIBUTING.md"
README = (
    *("src", "mypy_plugin", "codegen", "stubs", "benchmarks", "examples", "docs"),
    *("tests", "tests/codegen", "tests/mypy_plugin"),
)
PAGES = [PAGE, *(REPOSITORY / folder / "README.md" for folder in README)]

# Paths in the text: from the repository, from the package for what the runtime consists of, or from
# the folder of the Linen codemod, whose files have a name each.
FILE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|pyi|md|toml|txt|yml|yaml))`")
FOLDER = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+/?)?)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
BUILT = {"build/site", "dist/"}


def named(text: str) -> set[str]:
    """Return the files and folders that a page names."""
    return {found[1] for kind in (FILE, FOLDER, LINK) for found in kind.finditer(text)} - BUILT


def test_names_of_files_and_folders_are_found_in_a_text() -> None:
    text = "`a/b.py` and `c.toml`, [d](docs/d.md#e), `src/x`, `src/y/`; `make test`, `nnx.jit`, `a`"
    assert named(text) == {"a/b.py", "c.toml", "docs/d.md", "src/x", "src/y/"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_what_a_page_for_contributors_names_is_there(page: Path) -> None:
    names = named(page.read_text(encoding="utf-8"))
    assert names
    own = {path.name for path in LINEN.rglob("*.py")}
    roots = (*ROOTS, page.parent, *(path for path in page.parent.iterdir() if path.is_dir()))
    assert {one for one in names if not any((root / one).exists() for root in roots)} <= own


@pytest.mark.parametrize("folder", [PACKAGE, LINEN], ids=["runtime", "linen"])
def test_no_two_files_of_a_package_share_a_name(folder: Path) -> None:
    counts = collections.Counter(path.name for path in folder.rglob("*.py"))
    del counts["__init__.py"]
    assert [name for name, count in counts.items() if count > 1] == []


def test_the_names_on_the_page_about_the_runtime_are_names_in_it() -> None:
    (page,) = re.findall(
        r"^## The runtime on one page$(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    words = {word for name in re.findall(r"`([\w.]+)`", page) for word in name.split(".")}
    assert words - set(re.findall(r"\w+", sources)) - {"py", *FILE.findall(page)} == set()
    nouns = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert len(nouns) == 15
    assert [noun for noun in nouns if not re.search(rf"^class {noun}\b", sources, re.M)] == []
