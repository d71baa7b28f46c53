"""``nnx-static-data``: an array, Variable or Pytree where only a static value may be."""

from __future__ import annotations

from mypy.nodes import Expression
from mypy.types import CallableType, get_proper_type

from typed_nnx_codegen.facts.kinds import data_in, holds_data, is_pytree
from typed_nnx_codegen.facts.marks import all_said, is_checked, is_stored_as_given, marks_of
from typed_nnx_codegen.facts.values import first_data, mark_in_call
from typed_nnx_mypy.call import Argument, AttributeCheck, Call, ClassCheck
from typed_nnx_mypy.errorcodes import STATIC_DATA
from typed_nnx_mypy.registry import on_attribute, on_call, on_class

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
    if factory is not None and _makes_data(factory):
        made = get_proper_type(factory.type)
        assert isinstance(made, CallableType)
        _report(call, factory.expression, data_in(made.ret_type), "`nnx.data(default_factory=...)`")


def _report_in(call: Call, value: Expression, fix: str) -> None:
    found = first_data(value, call.checker)
    if found is not None:
        _report(call, found, data_in(call.checker.type_of(found)), fix)


def _report(call: Call, at: Expression, found: str, fix: str) -> None:
    call.report(STATIC_DATA, f"nnx.static: got {found}; {_RULE}. Fix: write {fix}", at)


def _makes_data(factory: Argument) -> bool:
    made = factory.type
    return (
        isinstance(made, CallableType)
        and not made.is_type_obj()
        and holds_data(made.ret_type) is True
    )


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
