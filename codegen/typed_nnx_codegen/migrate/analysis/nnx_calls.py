"""What calls of NNX give that depends on their arguments: `split`, `merge`, `state`, ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives, element_of
from typed_nnx_codegen.migrate.analysis.parameters import PassedArgument
from typed_nnx_codegen.migrate.analysis.split_order import SplitOrders
from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    UNKNOWN,
    Collection,
    External,
    Instance,
    Method,
    Plain,
    ProjectClass,
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
            return UNKNOWN if starred else split_result(first, len(values) - 1, states_first=False)
        case "state" | "pop" | "variables":
            return _states(first, len(values) - 1)
        case "filter_state" | "split_state":
            return _states(_model_of(first), len(values) - 1)
        case "merge":
            if isinstance(first, Collection) and first.items:
                return _model_of(first.items[-1])  # a tuple with the definition last, once
            return _model_of(first)
        case "graphdef":
            return Instance("nnx.GraphDef", first)
        case "grad" | "value_and_grad":
            return UNKNOWN
        case _:
            return None


def split_result(model: Value, filters: int, *, states_first: bool) -> Value:
    """Return what `split` gives: the graphdef, and a State for each filter.

    Args:
        model: What is split.
        filters: The number of filters.
        states_first: Whether the graphdef comes last, as in the first versions.
    """
    states: list[Value] = [Instance("nnx.State", model)] * max(1, filters)
    definition: Value = Instance("nnx.GraphDef", model)
    return collection("tuple", [*states, definition] if states_first else [definition, *states])


def _states(model: Value, filters: int) -> Value:
    state = Instance("nnx.State", model)
    return state if filters <= 1 else collection("tuple", [state] * filters)


def _model_of(value: Value) -> Value:
    return value.of if isinstance(value, Instance) else UNKNOWN


def method_special(
    receiver: Value,
    name: str,
    values: Sequence[Value],
    node: cst.Call | None,
    split_orders: Callable[[], SplitOrders],
) -> Value | None:
    """Return what a method of NNX gives; None where the tables say it.

    Args:
        receiver: The object or the class.
        name: The method.
        values: The arguments by position.
        node: The call.
        split_orders: Gives the versions that the calls of ``.split`` are written for.
    """
    if isinstance(receiver, (ProjectClass, External)):
        return _class_method(receiver, name, values)
    if derives(receiver, "GraphDef"):
        return _graphdef_method(receiver, name)
    if derives(receiver, "State"):
        return _state_method(receiver, name, len(values))
    if derives(receiver, "Variable"):
        return receiver if name in {"replace", "copy", "to_state"} else ARRAY
    if derives(receiver, "List", "Dict", "Sequential") and name in {
        "pop",
        "get",
        "values",
        "items",
    }:
        return element_of(receiver) if name == "pop" else UNKNOWN
    if derives(receiver, "Module", "Pytree"):
        return _module_method(receiver, name, len(values), node, split_orders)
    return None


def _class_method(receiver: Value, name: str, values: Sequence[Value]) -> Value | None:
    made = Instance(receiver) if isinstance(receiver, ProjectClass) else UNKNOWN
    if isinstance(receiver, External) and receiver.public.startswith("nnx."):
        made = Instance(receiver.public)
    match name:
        case "partial_init":
            return Method(made, "<partial_init>")
        case "create_abstract":
            return made
        case "init":
            return UNKNOWN
        case "merge":
            # `ModuleDef.merge(moduledef, state)`
            return _model_of(values[0]) if values else UNKNOWN
        case _:
            return None


def _graphdef_method(receiver: Value, name: str) -> Value | None:
    match name:
        case "merge":
            # A definition with such a method was one of a Module.
            model = _model_of(receiver)
            return Instance("nnx.Module") if model == UNKNOWN else model
        case "apply":
            return UNKNOWN
        case _:
            return None


def _state_method(receiver: Value, name: str, filters: int) -> Value | None:
    if name in {"filter", "split"}:
        return _states(_model_of(receiver), filters)
    return receiver if name == "map" else None


def _module_method(
    receiver: Value,
    name: str,
    filters: int,
    node: cst.Call | None,
    split_orders: Callable[[], SplitOrders],
) -> Value | None:
    match name:
        case "<partial_init>":
            return receiver
        case "split":
            states_first = split_orders().states_first(node)
            return split_result(receiver, filters, states_first=states_first)
        case "get_state":
            return Instance("nnx.State", receiver)
        case "extract" | "filter" | "pop":
            return _states(receiver, filters)
        case "clone":
            return receiver
        case "sow":
            return Plain("bool")
        case _:
            return None
