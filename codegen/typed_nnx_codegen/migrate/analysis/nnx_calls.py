"""What calls of NNX give that depends on their arguments: `split`, `merge`, `state`, ..."""

from __future__ import annotations

from collections.abc import Sequence

from typed_nnx_codegen.migrate.analysis.members import derives, element_of
from typed_nnx_codegen.migrate.analysis.parameters import PassedArgument
from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    UNKNOWN,
    Collection,
    Instance,
    Value,
    collection,
)


def special_result(
    name: str, values: Sequence[Value], arguments: Sequence[PassedArgument]
) -> Value | None:
    """Return what a function of NNX gives; None where the tables say it.

    Args:
        name: The function, without the package.
        values: Its arguments by position.
        arguments: All its arguments.
    """
    first = values[0] if values else UNKNOWN
    starred = any(argument.star for argument in arguments)
    match name:
        case "split":
            definition, states = Instance("nnx.GraphDef", first), [Instance("nnx.State", first)]
            filters = max(1, len(values) - 1)
            return UNKNOWN if starred else collection("tuple", [definition, *states * filters])
        case "state" | "pop" | "variables":
            return _states(first, len(values) - 1)
        case "filter_state" | "split_state":
            return _states(_model_of(first), len(values) - 1)
        case "merge":
            if isinstance(first, Collection) and first.items:
                return _model_of(first.items[0])  # `nnx.merge(*nnx.split(m))`
            return _model_of(first)
        case "graphdef":
            return Instance("nnx.GraphDef", first)
        case "grad" | "value_and_grad":
            return UNKNOWN
        case _:
            return None


def _states(model: Value, filters: int) -> Value:
    state = Instance("nnx.State", model)
    return state if filters <= 1 else collection("tuple", [state] * filters)


def _model_of(value: Value) -> Value:
    return value.of if isinstance(value, Instance) else UNKNOWN


def method_special(receiver: Value, name: str, filters: int) -> Value | None:
    """Return what a method of NNX gives; None where the tables say it.

    Args:
        receiver: The object.
        name: The method.
        filters: How many arguments it has by position.
    """
    if derives(receiver, "State"):
        if name in {"filter", "split"}:
            return _states(_model_of(receiver), filters)
        return receiver if name == "map" else None
    if derives(receiver, "Variable"):
        return receiver if name in {"replace", "copy", "to_state"} else ARRAY
    if derives(receiver, "List", "Dict", "Sequential") and name in {
        "pop",
        "get",
        "values",
        "items",
    }:
        return element_of(receiver) if name == "pop" else UNKNOWN
    if derives(receiver, "GraphDef") and name == "merge":
        # A definition with such a method was one of a Module.
        model = _model_of(receiver)
        return Instance("nnx.Module") if model == UNKNOWN else model
    if derives(receiver, "Module") and name in {"extract", "filter", "get_state", "pop", "split"}:
        if name != "split":
            return _states(receiver, filters)
        states = [Instance("nnx.State", receiver)] * max(1, filters)
        return collection("tuple", [*states, Instance("nnx.GraphDef", receiver)])
    return None
