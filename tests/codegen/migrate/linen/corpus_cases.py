"""The corpus: Linen modules of our own, each with examples of how it is built and called.

A file holds Linen code and, at its end, the `EXAMPLES`. A folder in the corpus is a project of several
files. Examples whose name begins with `random` draw from a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import jax
import pytest

from typed_nnx_codegen.verify.example_files import checked
from typed_nnx_codegen.verify.examples import Example
from typed_nnx_codegen.verify.sides import Side, import_side

CORPUS: Final = Path(__file__).with_name("corpus")


@contextmanager
def as_users_run() -> Iterator[None]:
    """Promote dtypes and ranks as jax does by default: the corpus is code of users, not ours."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def all_files() -> list[Path]:
    """Return every file of the corpus."""
    return sorted(CORPUS.rglob("*.py"))


def linen_files() -> list[Path]:
    """Return the files of the corpus that have examples."""
    return [each for each in all_files() if "\nEXAMPLES = " in each.read_text()]


def name_of(file: Path) -> str:
    """Return the path of a file in the corpus, without the ending."""
    return file.relative_to(CORPUS).with_suffix("").as_posix()


@cache
def imported(file: Path) -> Side:
    """Return a file of the corpus, imported apart from the others."""
    return import_side(file)


# The files that `make test` runs; CI runs the others, too.
_QUICK: Final = {
    *("branches", "names", "outputs", "parameters"),
    *("call_fields", "module_fields"),
}


def in_time(file: Path, *values: object) -> object:
    """Return parameters of a test on a file of the corpus: few of them are for `make test`."""
    return pytest.param(*values, marks=() if file.stem in _QUICK else pytest.mark.thorough)


@cache
def examples_of(file: Path) -> list[Example]:
    """Return the examples of a file of the corpus, in the order in which they stand."""
    return checked(imported(file).module.EXAMPLES, file)


def classes_of(file: Path) -> dict[str, Any]:
    """Return the Linen classes that a file of the corpus defines, by name."""
    module = imported(file).module
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and hasattr(value, "init_with_output")
    }
