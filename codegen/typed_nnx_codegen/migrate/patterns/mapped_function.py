"""The function under a transform that maps: which arguments and results are Modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis import nnx_classes
from typed_nnx_codegen.migrate.analysis.members import ancestry, derives, nnx_name
from typed_nnx_codegen.migrate.analysis.syntax import descendants, is_name, parameters_of
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Array,
    Collection,
    Constant,
    Instance,
    Method,
    OneOf,
    Plain,
    ProjectClass,
    Value,
    join,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.axes import CannotTell
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


# -- which parameters are Modules -------------------------------------------------------------------


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


# -- objects that hold random keys ------------------------------------------------------------------


# Classes that say nothing of what their objects hold, and those that hold other objects.
_ANYTHING: Final = frozenset({"Module", "Object", "Pytree"})
_CONTAINERS: Final = frozenset({"Dict", "List", "Sequential"})
_KEYS: Final = "Rng"
_MOST_STEPS: Final = 4


def holds_keys(value: Value) -> bool | None:
    """Whether an object holds Rngs or a stream of keys; None where that is not sure."""
    return _holds(value, _MOST_STEPS)


def _holds(value: Value, depth: int) -> bool | None:
    match value:
        case OneOf():
            return _any([_holds(option, depth) for option in value.options])
        case Array() | Plain() | Constant() | Method():
            return False
        case Collection():
            items = value.items if value.items is not None else (value.element,)
            return _any([_holds(item, depth) for item in items])
        case Instance(cls=ProjectClass() as cls) if depth:
            return _of_project(cls, value, depth - 1)
        case Instance(cls=str() as name):
            return _of_nnx(nnx_name(name), value, depth)
        case _:
            return None


def _of_nnx(name: str, value: Instance, depth: int) -> bool | None:
    above = nnx_classes.mro(name)
    if name not in nnx_classes.CLASSES or name in _ANYTHING:
        return None
    if _CONTAINERS.intersection(above):
        return _holds(value.of, depth)
    if name.startswith(_KEYS):
        return True
    texts = [
        text
        for base in above
        if base in nnx_classes.CLASSES
        for text in nnx_classes.CLASSES[base].attributes.values()
    ]
    return any(_KEYS in text for text in texts)


def _of_project(cls: ProjectClass, value: Instance, depth: int) -> bool | None:
    found, is_complete = ancestry(cls)
    answers: list[bool | None] = [None] if not is_complete else []
    for base in found:
        if isinstance(base, ProjectClass):
            held = {**base.annotated, **base.attributes}.values()
            answers += [_holds(one, depth) for one in held]
        elif base not in _ANYTHING:
            answers.append(_of_nnx(base, value, depth))
    return _any(answers)


def _any(answers: list[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False
