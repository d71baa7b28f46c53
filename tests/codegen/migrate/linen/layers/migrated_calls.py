"""Migrates one written call of a Linen layer by the table, and fills it with Linen's weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import traverse_util

from typed_nnx_codegen.migrate.linen.dims import as_dim
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
from typed_nnx_codegen.migrate.linen.values import (
    UNKNOWN,
    Array,
    Const,
    Lead,
    Sequence,
    Shape,
    ShapeOf,
    Size,
    Table,
    Value,
)

_INNER = {"flax.linen.RNN": "cell", "flax.linen.WeightNorm": "", "flax.linen.SpectralNorm": ""}


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


def migrate(call: ast.Call, inputs: Inputs, method: str = "__call__") -> Migrated:
    """Return what the table makes of the constructor of a layer.

    Args:
        call: ``nn.Dense(4)``.
        inputs: What it is called with.
        method: The method that is called.

    Raises:
        NotMigratedError: The table refuses, or lacks a width.
    """
    assert isinstance(call.func, ast.Attribute)
    layer = LAYERS[f"flax.linen.{call.func.attr}"]
    given = _given(call, layer.parameters)
    given, inner = _with_inner(layer, given, inputs)
    built = layer.build(given, inputs)
    if not isinstance(built, Built):
        raise NotMigratedError(built)
    arguments = [argument.spelled() for argument in built.arguments]
    code = f"{built.cls}({', '.join([*arguments, *['rngs=rngs'] * built.takes_rngs])})"
    variables = layer.variables(given)
    if inner:
        variables = _of_inner(variables, inner)
    helpers = (*built.helpers, *(helper for one in inner.values() for helper in one.helpers))
    output = layer.output(given, inputs, method)
    if layer.linen.endswith(".Sequential"):
        output = list(inner.values())[-1].output
    return Migrated(code, helpers, layer, given, variables, output)


def _given(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, Given]:
    written = [*zip(parameters, call.args, strict=False)]
    written += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    return {name: Given(ast.unparse(node), value_of(node)) for name, node in written}


def _with_inner(
    layer: Layer, given: dict[str, Given], inputs: Inputs
) -> tuple[dict[str, Given], dict[str, Migrated]]:
    """Migrate the modules among the arguments."""
    inner: dict[str, Migrated] = {}
    for name, one in given.items():
        node = ast.parse(one.code, mode="eval").body
        if layer.linen.endswith(".Sequential"):
            assert isinstance(node, ast.List)
            code, inner = _in_turn(node, inputs)
            return {name: replace(one, code=code)}, inner
        if isinstance(node, ast.Call) and _is_layer(node):
            stepped = inputs
            if layer.linen.endswith(".RNN"):
                array = inputs.arguments["inputs"]
                assert isinstance(array, Array)
                stepped = Inputs({"inputs": Array(Shape(array.shape.dims[1:], array.shape.lead))})
            found = migrate(node, stepped)
            inner[name] = found
            width = found.output
            while isinstance(width, Sequence):
                width = width.items[-1]
            assert isinstance(width, Array)
            size = width.shape.axis(-1)
            given = {
                **given,
                name: Given(found.code, UNKNOWN if size is None else Size(size)),
            }
    return given, inner


def _in_turn(node: ast.List, inputs: Inputs) -> tuple[str, dict[str, Migrated]]:
    codes: list[str] = []
    inner: dict[str, Migrated] = {}
    value = next(iter(inputs.arguments.values()))
    for at, item in enumerate(node.elts):
        if not (isinstance(item, ast.Call) and _is_layer(item)):
            codes.append(ast.unparse(item))
            continue
        layer = LAYERS[f"flax.linen.{item.func.attr}"]  # type: ignore[attr-defined]  # a layer
        found = migrate(item, Inputs({layer.calls["__call__"][0].linen: value}))
        value = found.output
        inner[str(at)] = found
        codes.append(found.code)
    return f"[{', '.join(codes)}]", inner


def _is_layer(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute) and f"flax.linen.{call.func.attr}" in LAYERS
    )


def _of_inner(
    variables: tuple[LayerVariable, ...], inner: dict[str, Migrated]
) -> tuple[LayerVariable, ...]:
    """Return the variables of inner modules, under the paths that the outer one says."""
    made: list[LayerVariable] = [one for one in variables if "{collection}" not in one.linen]
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
            return Sequence(tuple(value_of(item) for item in items))
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
        return Sequence(
            tuple(value_of_array(item, f"{name}[{at}]", symbolic) for at, item in enumerate(found))
        )
    if not isinstance(found, jax.Array):
        return Const(found)
    if symbolic:
        return Array(Shape((), Lead(name, None)), origin=name)
    return Array(Shape(tuple(as_dim(size) for size in found.shape)))


def fill(model: Any, variables: Any, places: tuple[LayerVariable, ...]) -> int:
    """Put Linen variables where the table says; return how many there were."""
    flat = traverse_util.flatten_dict(variables, sep="/")
    by_name = {place.linen: place for place in places}
    for path, leaf in flat.items():
        place = by_name[path]
        value = leaf
        if place.transpose is not None:
            value = jnp.transpose(value, place.transpose)
        if place.reshape is not None:
            value = jnp.reshape(value, place.reshape)
        variable = at_path(model, place.nnx)
        assert variable.shape == value.shape, (path, variable.shape, value.shape)
        assert variable.dtype == value.dtype, (path, variable.dtype, value.dtype)
        variable[...] = value
    return len(flat)


def at_path(model: Any, path: str) -> Any:
    """Return the variable at a path of attributes."""
    for part in path.split("."):
        model = model[int(part)] if part.isdecimal() else getattr(model, part)
    return model


def check_equal(found: Any, expected: Any, tolerance: float = 1e-6) -> None:
    """Compare two trees of arrays: structure, dtypes, numbers."""
    ones, others = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(ones) == len(others)
    for one, other in zip(ones, others, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(
            np.asarray(one, np.float32),
            np.asarray(other, np.float32),
            rtol=tolerance,
            atol=tolerance,
        )


def check_shape(value: Value, found: Any, names: Mapping[str, Any]) -> None:
    """Compare what the table says of an output with the output."""
    if isinstance(value, Sequence):
        assert isinstance(found, tuple)
        assert len(found) == len(value.items)
        for item, one in zip(value.items, found, strict=True):
            check_shape(item, one, names)
        return
    if not isinstance(value, Array):
        return
    shape = value.shape
    assert shape.rank in (None, found.ndim)
    for at, dim in enumerate(reversed(shape.dims)):
        if dim is not None:
            assert eval(dim.code(), dict(names)) == found.shape[-1 - at], (dim.code(), found.shape)
    if shape.lead is not None and shape.lead.argument:
        whole = eval(shape.lead.argument, dict(names)).shape[: shape.lead.stop]
        assert found.shape[: found.ndim - len(shape.dims)] == whole
