"""Whatever code it is: nothing crashes, nothing is changed without need, and a second run is still."""

from __future__ import annotations

import ast
import sysconfig
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from benchmarks.migrate.checking import check_all
from tests.codegen.migrate.odd_modules import modules
from typed_nnx_codegen.migrate.files import migrate_bytes
from typed_nnx_codegen.migrate.findings import Migrated
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.syntax import gives_back, parses_with_libcst

LIBRARY = Path(sysconfig.get_path("stdlib"))
QUICK_FILES, QUICK_BYTES = 150, 800
HERE = Path(__file__)
SLOW = [HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large]
generated = settings(deadline=None, suppress_health_check=SLOW)


def library() -> list[Path]:
    """Return the files of the standard library, in an order by chance that is always the same."""
    found = (path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    return sorted(found, key=lambda path: zlib.crc32(str(path.relative_to(LIBRARY)).encode()))


def small_files() -> list[Path]:
    return [path for path in library() if 0 < path.stat().st_size < QUICK_BYTES][:QUICK_FILES]


def problems(path: Path) -> list[str]:
    """Return what goes wrong when all rules look at a file, for an import is planted in it."""
    return [f"{path}: {one}" for one in check_all(path, Project((path,)), Options()).problems]


@pytest.mark.thorough
def test_of_files_without_nnx_only_a_planted_import_changes() -> None:
    files = small_files()
    assert len(files) > QUICK_FILES // 3  # some systems come without the tests of Python
    assert [problem for path in files for problem in problems(path)] == []


@pytest.mark.slow
def test_of_no_file_of_the_standard_library_more_than_a_planted_import_changes() -> None:
    assert [problem for path in library() for problem in problems(path)] == []


def replace_x(text: str, *_: object) -> Migrated:
    return Migrated(text.replace("x", "y"))


def crash(*_: object) -> Migrated:
    raise KeyError("x")


@pytest.mark.parametrize(
    ("migrate", "problem"),
    [
        pytest.param(replace_x, "more than the planted import was changed", id="other changes"),
        pytest.param(lambda text, *_: Migrated(text), "not migrated", id="no change"),
        pytest.param(crash, "a bug of typed-nnx migrate: KeyError", id="crash"),
    ],
)
def test_what_goes_wrong_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, migrate: Callable[..., Migrated], problem: str
) -> None:
    monkeypatch.setattr("typed_nnx_codegen.migrate.engine.migrate_text", migrate)
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    (found,) = problems(path)
    assert problem in found


def parses(text: str) -> bool:
    """Whether a text is Python for both Python and libcst, which loses no byte of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return parses_with_libcst(text) and gives_back(text) == text


def assert_migrates(text: str, target: Literal["typed_nnx", "flax.nnx"]) -> None:
    """Migrate a module twice; its second migration changes nothing."""
    options, project = Options(target=target), Project((HERE,))
    path = HERE.with_name("case.py")
    first = migrate_bytes(text.encode(), path, project, options)
    assert not first.error, first.error
    assert parses(first.after.decode())
    if first.is_changed:
        second = migrate_bytes(first.after, path, project, options)
        assert not second.error, second.error
        assert second.skipped or second.after == first.after


targets = st.sampled_from(["typed_nnx", "flax.nnx"])


@settings(generated, max_examples=15)
@given(modules(), targets)
def test_odd_modules_are_migrated_once(text: str, target: Literal["typed_nnx", "flax.nnx"]) -> None:
    assume(parses(text))
    assert_migrates(text, target)


@pytest.mark.slow
@settings(generated, max_examples=5000)
@given(modules(), targets)
def test_many_odd_modules_are_migrated_once(
    text: str, target: Literal["typed_nnx", "flax.nnx"]
) -> None:
    assume(parses(text))
    assert_migrates(text, target)
