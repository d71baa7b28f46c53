"""``nnx-variable-value``: what can be no array, put into the array of a Variable."""

from __future__ import annotations

from typing import Final

from mypy.types import CallableType, Instance, NoneType, ProperType, get_proper_type

from typed_nnx_codegen.facts.kinds import holds_array, is_of_runtime, short_name
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import VARIABLE_VALUE
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
    if len(given) != 1 or not isinstance(receiver, Instance) or not _takes_arrays(receiver):
        return
    if _is_no_array(given[0].type) and not call.checker.is_expected_to_fail(call.node):
        call.report(
            VARIABLE_VALUE,
            f"{short_name(receiver)}: got {_text(given[0].type)}; expected an array or numbers. "
            "Fix: jnp.asarray(...), or a new Variable",
            given[0].expression,
        )


def _takes_arrays(receiver: Instance) -> bool:
    """Tell whether a Variable holds an array, and nothing of its class makes one of other values."""
    return holds_array(receiver) and all(is_of_runtime(receiver.type, name) for name in _SETTERS)


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
