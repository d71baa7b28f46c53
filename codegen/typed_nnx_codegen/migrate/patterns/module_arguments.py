"""Which parameters of a function are Modules, by what is known and by what it does with them."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.syntax import descendants, is_name, parameters_of
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Array,
    Collection,
    Constant,
    Instance,
    OneOf,
    Plain,
    Value,
    options_of,
)
from typed_nnx_codegen.migrate.file import File

Function = cst.FunctionDef | cst.Lambda

_ARRAY_PACKAGES: Final = ("jax.numpy.", "numpy.", "optax.", "jax.nn.", "jax.lax.")
_OF_ARRAYS: Final = frozenset({"shape", "dtype", "ndim", "sum", "mean", "reshape", "astype"})


def is_node(file: File, function: Function, parameter: str) -> bool | None:
    """Whether a parameter is a Module or another object of NNX; None where that is not sure.

    An argument of a transform that the function calls must be a Module, for plain functions are
    no arguments of transforms; one that it does arithmetic with is none.
    """
    scope = file.analysis.scopes.get(function)
    value = scope.seen.get(parameter, UNKNOWN) if scope is not None else UNKNOWN
    known = _is_node(value)
    return known if known is not None else _by_use(file, function, parameter)


def _is_node(value: Value) -> bool | None:
    if isinstance(value, OneOf):
        answers = {_is_node(option) for option in options_of(value)}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, (Array, Plain, Constant)):
        return False
    if isinstance(value, Collection):
        inner = _is_node(value.element)
        # A container of Modules is neither one nor the other.
        return False if inner is False else None
    if isinstance(value, Instance):
        if derives(value, "State", "GraphDef"):
            return False
        return True if derives(value, "Module", "Pytree", "Rngs", "RngStream") else None
    return None


def _by_use(file: File, function: Function, parameter: str) -> bool | None:
    others = frozenset(one.name.value for one in parameters_of(function.params))
    answers = {
        _said_by(file, node, parameter, others)
        for node in descendants(function.body)
        if isinstance(node, (cst.Call, cst.BinaryOperation, cst.Attribute))
    }
    answers.discard(None)
    return answers.pop() if len(answers) == 1 else None


def _said_by(file: File, node: cst.CSTNode, parameter: str, others: frozenset[str]) -> bool | None:
    """Return what one expression says of a parameter that it uses."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=attribute)):
            return False if name == parameter and attribute in _OF_ARRAYS else None
        case cst.BinaryOperation(left=left, right=right):
            return False if is_name(left, parameter) or is_name(right, parameter) else None
        case cst.Call(func=function, args=args):
            if is_name(function, parameter):
                return True
            if not any(is_name(arg.value, parameter) for arg in args):
                return None
            # Another parameter that is called is a Module.
            is_called = isinstance(function, cst.Name) and function.value in others
            return False if is_called or _takes_arrays(file, function) else None
    return None


def _takes_arrays(file: File, function: cst.BaseExpression) -> bool:
    """Whether a call of something takes arrays: functions of jax, layers."""
    if file.name(function).startswith(_ARRAY_PACKAGES):
        return True
    value = file.value(function)
    return value != NOTHING and derives(value, "Module") is True
