"""Migrates one written call of a Linen layer by the table, and fills it with Linen's weights."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import (
    LAYERS,
    Built,
    Given,
    Helper,
    Inputs,
    Layer,
    LayerVariable,
    MissingWidth,
    Refused,
)


@dataclass(frozen=True)
class Migrated:
    """What the table makes of a constructor.

    Attributes:
        code: The call of the new constructor.
        helpers: What it needs at the top level.
        layer: The row of the table.
        given: The arguments of the Linen constructor.
        variables: Where its variables are.
        output: What the call returns.
    """

    code: str
    helpers: tuple[Helper, ...]
    layer: Layer
    given: Mapping[str, Given]
    variables: tuple[LayerVariable, ...]
    output: Value


class NotMigratedError(Exception):
    """The table refused, or lacks a width."""

    def __init__(self, answer: Refused | MissingWidth) -> None:
        super().__init__(str(answer))
        self.answer = answer


def migrate(
    call: ast.Call,
    inputs: Inputs,
    method: str = "__call__",
    size: Callable[[Dim], str] = Dim.code,
) -> Migrated:
    """Return what the table makes of the constructor of a layer.

    Args:
        call: ``nn.Dense(4)``.
        inputs: What it is called with.
        method: The method that is called.
        size: Gives the expression for a size.

    Raises:
        NotMigratedError: The table refuses, or lacks a width.
    """
    assert isinstance(call.func, ast.Attribute)
    layer = LAYERS[f"flax.linen.{call.func.attr}"]
    given = _given(call, layer.parameters)
    given, inner = _with_inner(layer, given, inputs, size)
    built = layer.build(given, inputs)
    if not isinstance(built, Built):
        raise NotMigratedError(built)
    arguments = [argument.spelled(size) for argument in built.arguments]
    code = f"{built.cls}({', '.join([*arguments, *['rngs=rngs'] * built.takes_rngs])})"
    variables = layer.variables(given)
    if inner:
        variables = _of_inner(variables, inner)
    helpers = (*built.helpers, *(helper for one in inner.values() for helper in one.helpers))
    output = layer.output(given, inputs, method)
    if not layer.calls:
        output = list(inner.values())[-1].output
    return Migrated(code, helpers, layer, given, variables, output)


def _given(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, Given]:
    written = [*zip(parameters, call.args, strict=False)]
    written += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    return {name: Given(ast.unparse(node), value_of(node)) for name, node in written}


def _with_inner(
    layer: Layer, given: dict[str, Given], inputs: Inputs, size: Callable[[Dim], str]
) -> tuple[dict[str, Given], dict[str, Migrated]]:
    """Migrate the modules among the arguments."""
    inner: dict[str, Migrated] = {}
    for name, one in given.items():
        node = ast.parse(one.code, mode="eval").body
        if layer.linen.endswith(".Sequential"):
            assert isinstance(node, ast.List)
            code, inner = _in_turn(node, inputs, size)
            return {name: replace(one, code=code)}, inner
        if isinstance(node, ast.Call) and _is_layer(node):
            stepped = _inputs_of_inner(layer, node, inputs)
            found = migrate(node, stepped, size=size)
            inner[name] = found
            features = _last(found.output).shape.axis(-1)
            value = UNKNOWN if features is None else Size(features)
            given = {**given, name: Given(found.code, value)}
    return given, inner


def _inputs_of_inner(layer: Layer, node: ast.Call, inputs: Inputs) -> Inputs:
    assert isinstance(node.func, ast.Attribute)
    if layer.linen.endswith(".RNN"):
        shape = _last(inputs.arguments["inputs"]).shape
        return Inputs({"inputs": Array(Shape(shape.dims[1:], shape.lead))})
    if not layer.calls:
        names = [one.linen for one in LAYERS[f"flax.linen.{node.func.attr}"].calls["__call__"]]
        return Inputs({names[0]: inputs.arguments["args"]})
    return inputs


def _last(value: Value) -> Array:
    while isinstance(value, Seq):
        value = value.items[-1]
    assert isinstance(value, Array)
    return value


def _in_turn(
    node: ast.List, inputs: Inputs, size: Callable[[Dim], str]
) -> tuple[str, dict[str, Migrated]]:
    codes: list[str] = []
    inner: dict[str, Migrated] = {}
    value = next(iter(inputs.arguments.values()))
    for at, item in enumerate(node.elts):
        if not (isinstance(item, ast.Call) and _is_layer(item)):
            codes.append(ast.unparse(item))
            continue
        layer = LAYERS[f"flax.linen.{item.func.attr}"]  # type: ignore[attr-defined]  # a layer
        found = migrate(item, Inputs({layer.calls["__call__"][0].linen: value}), size=size)
        value = found.output
        inner[str(at)] = found
        codes.append(found.code)
    return f"[{', '.join(codes)}]", inner


def _is_layer(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and f"flax.linen.{call.func.attr}" in LAYERS


def _of_inner(
    variables: tuple[LayerVariable, ...], inner: dict[str, Migrated]
) -> tuple[LayerVariable, ...]:
    """Return the variables of inner modules, under the paths that the outer one says."""
    made = [
        replace(one, linen=one.linen.replace("{layer}", "layer_instance"))
        for one in variables
        if "{collection}" not in one.linen
    ]
    for outer in variables:
        if "{collection}" not in outer.linen:
            continue
        names = [outer.nnx] if outer.nnx in inner else list(inner)
        for name in names:
            for one in inner[name].variables:
                collection, _, rest = one.linen.partition("/")
                linen = outer.linen.replace("{collection}", collection).replace("{i}", name)
                nnx = outer.nnx.replace("{i}", name)
                made.append(replace(one, linen=f"{linen}/{rest}", nnx=f"{nnx}.{one.nnx}"))
    return tuple(made)


def value_of(node: ast.expr) -> Value:
    """Return what a literal says."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Size(as_dim(number))
        case ast.Constant(value=constant):
            return Const(constant)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return Size(as_dim(-number))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return Seq(tuple(value_of(item) for item in items))
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return Table({ast.literal_eval(key): value_of(item) for key, item in pairs if key})
    return UNKNOWN


def value_of_array(found: Any, name: str, symbolic: bool) -> Value:
    """Return an argument of the call as the executor knows it.

    Args:
        found: The argument.
        name: Its expression.
        symbolic: Whether not even its rank is known.
    """
    if isinstance(found, tuple) and all(isinstance(item, int) for item in found):
        return ShapeOf(Shape(tuple(as_dim(item) for item in found)))
    if isinstance(found, tuple):
        return Seq(
            tuple(value_of_array(item, f"{name}[{at}]", symbolic) for at, item in enumerate(found))
        )
    if not isinstance(found, jax.Array):
        return Const(found)
    if symbolic:
        return Array(Shape((), Lead(name, None)), origin=name)
    return Array(Shape(tuple(as_dim(size) for size in found.shape)))
