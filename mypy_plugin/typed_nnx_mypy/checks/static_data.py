"""``nnx-static-data`` and ``nnx-data-status``: data where only a static value may be, and the reverse.

The first assignment decides what an attribute is; None is static.
"""

from __future__ import annotations

from typing import Final

from mypy.nodes import Expression
from mypy.types import CallableType, Instance, ProperType, TypeType

from typed_nnx_codegen.facts.fields import depend_on
from typed_nnx_codegen.facts.kinds import data_in, holds_data, is_pytree, kind_of, short_name
from typed_nnx_codegen.facts.marks import (
    all_said,
    is_checked,
    is_stored_as_given,
    marks_of,
    marks_on,
)
from typed_nnx_codegen.facts.values import first_data, mark_in_call, may_be_marked
from typed_nnx_mypy.call import AttributeCheck, Call, ClassCheck, StoreCheck
from typed_nnx_mypy.errorcodes import DATA_STATUS, STATIC_DATA
from typed_nnx_mypy.models.history import (
    by_init,
    data_since,
    is_deleted,
    knows_all_bases,
    static_since,
)
from typed_nnx_mypy.registry import on_attribute, on_call, on_class, on_store

_RULE = "a static value is part of the GraphDef and holds no array, Variable or Module"


@on_call("static")
def marked_value_is_static(call: Call) -> None:
    """Report data in ``nnx.static(value)`` and in the default of a static field."""
    owner = call.checker.current_class
    if owner is not None and is_pytree(owner) and not is_checked(owner):
        return  # the runtimes take the value and forget the mark
    for given in call.positional[:1]:
        _report_in(call, given.expression, "`nnx.data(...)`, or no mark where it is assigned alone")
    default = call.keyword("default")
    if default is not None:
        _report_in(call, default.expression, "`nnx.data(default=...)`")
    factory = call.keyword("default_factory")
    made = factory.type if factory is not None else None
    if factory is None or not isinstance(made, CallableType) or made.is_type_obj():
        return
    if holds_data(made.ret_type):
        fix = "`nnx.data(default_factory=...)`"
        _report(call, factory.expression, data_in(made.ret_type), fix)


def _report_in(call: Call, value: Expression, fix: str) -> None:
    found = first_data(value, call.checker)
    if found is not None:
        _report(call, found, data_in(call.checker.type_of(found)), fix)


def _report(call: Call, at: Expression, found: str, fix: str) -> None:
    call.report(STATIC_DATA, f"nnx.static: got {found}; {_RULE}. Fix: write {fix}", at)


@on_attribute
def declared_attribute_is_static(check: AttributeCheck) -> None:
    """Report data assigned to an attribute that the class declares as static."""
    if not is_stored_as_given(check.owner):
        return
    declared = next((said.declared for _, said in all_said(check.owner, check.name)), "")
    if declared != "static":
        return
    value = check.value
    found = first_data(value, check.checker) if value is not None else None
    if value is not None and found is not None and not mark_in_call(value):
        text = data_in(check.checker.type_of(found))
        check.report(
            STATIC_DATA,
            f"`{check.name}` is declared static, but is assigned {text}; {_RULE}. "
            f"Fix: declare it with `nnx.data()`",
            found,
        )


@on_class
def declared_type_is_static(check: ClassCheck) -> None:
    """Report ``x: nnx.Static[jax.Array]`` and ``x: jax.Array = nnx.static()``."""
    marks = marks_of(check.owner)
    if marks is None or not is_checked(check.owner):
        return
    for name, found, statement in check.fields():
        said = marks.attributes.get(name)
        if said is not None and said.declared == "static" and holds_data(found):
            text = data_in(found)
            check.report(
                STATIC_DATA,
                f"`{name}` is declared as a static {text}; {_RULE}. "
                "Fix: declare it with `nnx.data()`",
                statement,
            )


# -- nnx-data-status --------------------------------------------------------------------------

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
