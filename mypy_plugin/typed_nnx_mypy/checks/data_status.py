"""``nnx-data-status``: data in an attribute that is static, and text or functions in one of data.

The first assignment decides what an attribute is; None is static.
"""

from __future__ import annotations

from typing import Final

from mypy.types import CallableType, Instance, ProperType, TypeType

from typed_nnx_codegen.facts.fields import depend_on
from typed_nnx_codegen.facts.kinds import data_in, kind_of, short_name
from typed_nnx_codegen.facts.marks import all_said, is_stored_as_given, marks_on
from typed_nnx_codegen.facts.values import may_be_marked
from typed_nnx_mypy.call import AttributeCheck, StoreCheck
from typed_nnx_mypy.errorcodes import DATA_STATUS
from typed_nnx_mypy.models.history import (
    by_init,
    data_since,
    is_deleted,
    knows_all_bases,
    static_since,
)
from typed_nnx_mypy.registry import on_attribute, on_store

# Values of these are no leaves for jax.
_NO_LEAVES: Final = frozenset({"builtins.str", "builtins.bytes", "enum.Enum"})


@on_attribute
def status_stays(check: AttributeCheck) -> None:
    """Report an assignment in a method that gives an attribute a value of the other status."""
    owner, name = check.owner, check.name
    depend_on(owner, check.checker)
    if not is_stored_as_given(owner) or is_deleted(owner, name) or not knows_all_bases(owner):
        return
    if marks_on(owner, name) - {"static"} or any(
        said.declared for _, said in all_said(owner, name)
    ):
        return
    value = check.value
    if value is None or may_be_marked(value, check.checker):
        return
    found = check.checker.type_of(value)
    if kind_of(found) is not None:
        since = static_since(check)
        if since:
            check.report(DATA_STATUS, _data_message(name, found, since), value)
    elif _is_no_leaf(found) and not marks_on(check.owner, name):
        line = data_since(check)
        if line:
            check.report(
                DATA_STATUS,
                f"`{name}` is data since line {line} and stays data, but is assigned "
                f"a {short_name(found)}, which is not a leaf for jax. Fix: write `nnx.static(...)`",
                value,
            )


@on_store
def static_stays(check: StoreCheck) -> None:
    """Report ``model.x = ...`` of data where ``__init__`` made the attribute static."""
    owner, name, value = check.owner, check.name, check.statement.rvalue
    depend_on(owner, check.checker)
    if not is_stored_as_given(owner) or is_deleted(owner, name) or not knows_all_bases(owner):
        return
    said = all_said(owner, name)
    if len(said) != 1 or said[0][1].mark or not said[0][1].begins_static:
        return
    found = check.checker.type_of(value)
    if kind_of(found) is None or may_be_marked(value, check.checker):
        return
    check.report(DATA_STATUS, _data_message(name, found, by_init(said[0][0])), value)


def _data_message(name: str, found: ProperType, since: str) -> str:
    return (
        f"`{name}` is static {since}, but is assigned {data_in(found)}: the first value decides. "
        "Fix: make it data at once, with `nnx.data(None)`, or assign it once only"
    )


def _is_no_leaf(found: ProperType) -> bool:
    match found:
        case Instance():
            return any(base.fullname in _NO_LEAVES for base in found.type.mro)
        case CallableType():
            return found.is_type_obj() or found.definition is not None
        case _:
            return isinstance(found, TypeType)
