"""The table of older spellings: its numbers, and that it says what exists and what does not."""

from __future__ import annotations

import inspect
import warnings
from types import ModuleType

import flax.nnx
import pytest

import typed_nnx
from typed_nnx.compat import _OLDER
from typed_nnx_mypy.deprecations import RULES, Spelling

MODULES = (flax.nnx, typed_nnx)
SPELLINGS = [spelling for rule in RULES for spelling in rule.spellings]
KEPT = [spelling for spelling in SPELLINGS if not spelling.is_gone]
GONE = [spelling for spelling in SPELLINGS if spelling.is_gone]


def _id(spelling: Spelling) -> str:
    return f"{spelling.name}-{spelling.keyword}" if spelling.keyword else spelling.name


def _exists(module: ModuleType, spelling: Spelling) -> bool:
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


def test_the_rules_are_numbered_without_a_gap() -> None:
    assert [rule.code for rule in RULES] == [f"TN{101 + n}" for n in range(len(RULES))]


def test_the_rule_of_the_house_style_has_its_number() -> None:
    (rule,) = (rule for rule in RULES if rule.code == "TN103")
    assert [spelling.name for spelling in rule.spellings] == ["VariableState"]


def test_a_spelling_belongs_to_one_rule() -> None:
    ids = [_id(spelling) for spelling in SPELLINGS]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("spelling", KEPT, ids=_id)
def test_what_is_reported_exists_in_the_runtime(spelling: Spelling, module: ModuleType) -> None:
    assert _exists(module, spelling)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("spelling", GONE, ids=_id)
def test_what_is_left_to_type_checkers_does_not_exist(
    spelling: Spelling, module: ModuleType
) -> None:
    # typed-nnx looks its older names up when they are used: no type checker sees them.
    is_older = module is typed_nnx and spelling.name in _OLDER
    assert is_older or not _exists(module, spelling)


def test_every_older_name_of_the_runtime_has_a_rule() -> None:
    names = {spelling.name for spelling in SPELLINGS}
    assert set(_OLDER) <= names
