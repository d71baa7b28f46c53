"""``nnx-variable-value``: what can be no array, put into the array of a Variable."""

from __future__ import annotations

from typing import Final

from mypy.maptype import map_instance_to_supertype
from mypy.types import CallableType, Instance, NoneType, ProperType, get_proper_type

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import VARIABLE_VALUE
from typed_nnx_mypy.models.kinds import ARRAY, short_name
from typed_nnx_mypy.registry import on_call

_NO_ARRAYS: Final = frozenset(
    f"builtins.{name}" for name in ("bytes", "dict", "frozenset", "set", "str")
)
# A class of Variables with one of them may take other values.
_SETTERS: Final = ("__setitem__", "on_set_value", "set_value")


@on_call("Variable.__setitem__")
def value_can_be_an_array(call: Call) -> None:
    """Report ``variable[...] = value`` where the Variable holds an array, which the value is not."""
    given, receiver = call.formals(1), get_proper_type(call.receiver)
    if len(given) != 1 or not isinstance(receiver, Instance) or not _holds_array(receiver):
        return
    if _is_no_array(given[0].type) and not call.checker.is_expected_to_fail(call.node):
        call.report(
            VARIABLE_VALUE,
            f"{short_name(receiver)}: got {_text(given[0].type)}; expected an array or numbers. "
            "Fix: jnp.asarray(...), or a new Variable",
            given[0].expression,
        )


def _holds_array(receiver: Instance) -> bool:
    for base in receiver.type.mro:
        if base.name == "Variable":
            values = map(get_proper_type, map_instance_to_supertype(receiver, base).args)
            names = [each.type.fullname for each in values if isinstance(each, Instance)]
            return names == [ARRAY]
        if any(name in base.names for name in _SETTERS):
            return False
    return False


def _is_no_array(found: ProperType) -> bool:
    match found:
        case Instance():
            return found.type.fullname in _NO_ARRAYS
        case CallableType():
            return not found.is_type_obj()
        case _:
            return isinstance(found, NoneType)


def _text(found: ProperType) -> str:
    match found:
        case Instance():
            return short_name(found)
        case NoneType():
            return "None"
        case _:
            return "a function"
