"""The function under a transform that maps: which arguments and results are Modules."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Array,
    Collection,
    Constant,
    Instance,
    Plain,
    Value,
    join,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.axes import CannotTell
from typed_nnx_codegen.migrate.patterns.held_state import holds_keys
from typed_nnx_codegen.migrate.patterns.module_arguments import is_node
from typed_nnx_codegen.migrate.patterns.transform_calls import TransformCall, parameter_names


@dataclass(frozen=True)
class Parameter:
    """A parameter of a mapped function.

    Attributes:
        name: Its name.
        is_node: Whether it is a Module or another object of NNX.
        holds_keys: Whether it holds random keys; None where that is not sure.
        is_keys: Whether it is an Rngs, which is nothing else.
        has_default: Whether calls may leave it out.
    """

    name: str
    is_node: bool
    holds_keys: bool | None
    is_keys: bool
    has_default: bool


def parameters_of_mapped(file: File, transform: TransformCall) -> list[Parameter]:
    """Return the parameters by position.

    Raises:
        CannotTell: The function is not in the file, or what a parameter is cannot be seen.
    """
    function = transform.function
    names = transform.parameters
    if function is None or names is None:
        raise CannotTell("the function is not in this file")
    nodes = [*function.params.posonly_params, *function.params.params]
    found: list[Parameter] = []
    for name, node in zip(names, nodes, strict=True):
        answer = is_node(file, function, name)
        if answer is None:
            raise CannotTell(f"it cannot be seen whether `{name}` is a Module")
        scope = file.analysis.scopes.get(function)
        value = without_none(scope.seen.get(name, UNKNOWN)) if scope is not None else UNKNOWN
        is_keys = derives(value, "Rngs", "RngStream") is True
        keys = holds_keys(value) if answer else False
        found.append(Parameter(name, answer, keys, is_keys, node.default is not None))
    return found


def result_of(file: File, function: cst.FunctionDef | cst.Lambda) -> list[bool | None]:
    """Return for each result whether it is a Module; one answer where there is no tuple."""
    scope = file.analysis.scopes.get(function)
    value = scope.function.result if scope is not None and scope.function is not None else UNKNOWN
    if isinstance(value, Collection) and value.kind == "tuple" and value.items is not None:
        return [_is_module(item) for item in value.items]
    answer = _is_module(value)
    return [_returns_data(file, function) if answer is None else answer]


def _is_module(value: Value) -> bool | None:
    value = without_none(value)
    if isinstance(value, Instance):
        return derives(value, "Pytree", "Module")
    if isinstance(value, Collection):
        return False if _is_module(join(value.element)) is False else None
    return False if isinstance(value, (Array, Constant, Plain)) else None


def _returns_data(file: File, function: cst.FunctionDef | cst.Lambda) -> bool | None:
    """Return False where a function surely gives arrays, by what it returns."""
    if isinstance(function, cst.Lambda):
        returned: list[cst.BaseExpression | None] = [function.body]
    else:
        returned = [
            node.value for node in descendants(function.body) if isinstance(node, cst.Return)
        ]
    return False if all(_is_data(file, function, node) for node in returned) else None


def _is_data(
    file: File, function: cst.FunctionDef | cst.Lambda, node: cst.BaseExpression | None
) -> bool:
    match node:
        case None:
            return True
        case cst.Tuple():
            return all(_is_data(file, function, one.value) for one in node.elements)
        case cst.BinaryOperation() | cst.Comparison():
            return True
        case cst.Call(func=cst.Name(value=name)) if name in parameter_names(function):
            # A Module that is called.
            return is_node(file, function, name) is True
        case _:
            return _is_module(file.value(node)) is False
