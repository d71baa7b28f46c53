"""The older spellings that are reported exist; those that are left to type checkers do not."""

from __future__ import annotations

import inspect
import warnings
from types import ModuleType

import flax.nnx
import pytest

import typed_nnx
from tests.codegen.migrate.older_spellings import GONE, Older
from typed_nnx.compat import _OLDER
from typed_nnx_mypy.checks.deprecated import SPELLINGS, Spelling

MODULES = (flax.nnx, typed_nnx)
LEFT = [each for spellings in GONE.values() for each in spellings]


def _id(spelling: Spelling | Older) -> str:
    return f"{spelling.name}-{spelling.keyword}" if spelling.keyword else spelling.name


def _exists(module: ModuleType, spelling: Spelling | Older) -> bool:
    found: object = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for part in spelling.name.split("."):
            found = getattr(found, part, None)
    if found is None or not spelling.keyword:
        return found is not None
    assert callable(found)
    # The metaclass of Modules takes any arguments.
    called = inspect.getattr_static(found, "__init__") if isinstance(found, type) else found
    parameters = inspect.signature(called).parameters.values()
    return any(
        each.name == spelling.keyword or each.kind is each.VAR_KEYWORD for each in parameters
    )


def test_a_spelling_belongs_to_one_rule() -> None:
    ids = [*map(_id, SPELLINGS), *map(_id, LEFT)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("spelling", SPELLINGS, ids=_id)
def test_what_is_reported_exists_in_the_runtime(spelling: Spelling, module: ModuleType) -> None:
    assert _exists(module, spelling)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("spelling", LEFT, ids=_id)
def test_what_is_left_to_type_checkers_does_not_exist(spelling: Older, module: ModuleType) -> None:
    # typed-nnx looks its older names up when they are used: no type checker sees them.
    is_older = module is typed_nnx and spelling.name in _OLDER
    assert is_older or not _exists(module, spelling)
