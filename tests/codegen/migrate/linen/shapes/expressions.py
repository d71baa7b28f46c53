"""Evaluates Python expressions twice: on symbolic shapes, and by running them.

The symbolic side goes through the public functions of `linen.shapes` alone, as the executor of
Linen methods does.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    Array,
    Code,
    Const,
    Seq,
    ShapeOf,
    Slice,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes import (
    Starred,
    attribute,
    binary,
    function_result,
    method_result,
    subscript,
    unary,
)

MODULES: dict[str, tuple[str, Any]] = {
    "jax": ("jax", jax),
    "jnp": ("jax.numpy", jnp),
    "np": ("numpy", np),
    "nn": ("flax.linen", nn),
    "math": ("math", math),
    "einops": ("einops", None),
}
_SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Not: "not",
    ast.Invert: "~",
}


def symbolic(expression: str, names: Mapping[str, Value]) -> Value:
    """Evaluate an expression on symbolic values."""
    return _Symbolic(names).value(ast.parse(expression, mode="eval").body)


class _Symbolic:
    def __init__(self, names: Mapping[str, Value]) -> None:
        self.names = names

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=literal):
                return Const(literal)
            case ast.Tuple(elts=items):
                return self._sequence(items, is_list=False)
            case ast.List(elts=items):
                return self._sequence(items, is_list=True)
            case ast.Name(id=name):
                return self.names[name]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return Slice(
                    *(NONE if part is None else self.value(part) for part in (lower, upper, step))
                )
            case ast.UnaryOp(op=op, operand=operand):
                return unary(_SIGNS[type(op)], self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return binary(_SIGNS[type(op)], self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return binary(_SIGNS[type(op)], self.value(left), self.value(right))
            case ast.Subscript(value=of, slice=index):
                return self._subscript(of, index)
            case ast.Attribute(value=of, attr=name):
                return self._attribute(of, name)
            case ast.Call():
                return self._call(node)
        raise AssertionError(ast.dump(node))

    def _sequence(self, items: list[ast.expr], *, is_list: bool) -> Value:
        return Seq(tuple(self.value(item) for item in items), is_list)

    def _attribute(self, of: ast.expr, name: str) -> Value:
        if isinstance(of, ast.Name) and of.id in ("self", "cfg"):
            return Code(f"{of.id}.{name}", (of.id,))
        if (dotted := _dotted(ast.Attribute(of, name))) is not None:
            return Code(dotted)
        if name == "at":
            return self.value(of)
        result = attribute(self.value(of), name)
        return Unknown("no such attribute") if result is None else result

    def _subscript(self, of: ast.expr, index: ast.expr) -> Value:
        if isinstance(of, ast.Attribute) and of.attr == "at":
            return self.value(of)
        return subscript(self.value(of), self.value(index))

    def _call(self, node: ast.Call) -> Value:
        arguments = [value for item in node.args for value in self._argument(item)]
        keywords = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        function = node.func
        if isinstance(function, ast.Name):
            result = function_result(f"builtins.{function.id}", arguments, keywords)
        elif (dotted := _dotted(function)) is not None:
            result = function_result(dotted, arguments, keywords)
        else:
            assert isinstance(function, ast.Attribute)
            of = self.value(function.value)
            if not isinstance(of, Array):
                return Unknown("a method of something else")
            at = function.value.value if isinstance(function.value, ast.Subscript) else None
            update = isinstance(at, ast.Attribute) and at.attr == "at"
            name = f"at.{function.attr}" if update else function.attr
            result = method_result(of, name, arguments, keywords)
        assert result is not None, f"{ast.unparse(node.func)} is not known"
        return result

    def _argument(self, node: ast.expr) -> list[Value]:
        if not isinstance(node, ast.Starred):
            return [self.value(node)]
        value = self.value(node.value)
        if isinstance(value, Seq):
            return list(value.items)
        if isinstance(value, ShapeOf) and value.shape.rank is not None:
            return [subscript(value, Const(k)) for k in range(value.shape.rank)]
        return [Starred(value)]


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name) and node.id in MODULES:
        return MODULES[node.id][0]
    if isinstance(node, ast.Attribute):
        of = _dotted(node.value)
        return None if of is None else f"{of}.{node.attr}"
    return None


def executed(
    expression: str, shapes: Mapping[str, tuple[int, ...]], others: Mapping[str, Any]
) -> Any:
    """Return what jax says of an expression: arrays as `ShapeDtypeStruct`, other things as they are.

    Args:
        expression: The expression.
        shapes: The shapes of the arrays in it; one of integers where the name is `ids`.
        others: What other names stand for.
    """
    code = compile(expression, "<case>", "eval")
    modules = {name: module for name, (_, module) in MODULES.items()}
    static: list[Any] = []

    def run(arrays: Mapping[str, jax.Array]) -> Any:
        result = eval(code, {**vars(builtins), **modules, **others, **arrays})
        static.append(result)
        return jax.tree.map(jnp.asarray, result) if _has_arrays(result) else ()

    arrays = {
        name: jax.ShapeDtypeStruct(shape, jnp.int32 if name.startswith("ids") else jnp.float32)
        for name, shape in shapes.items()
    }
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        traced = jax.eval_shape(run, arrays)
    return traced if _has_arrays(static[0]) else static[0]


def _has_arrays(result: Any) -> bool:
    kinds = (jax.Array, np.ndarray, jax.core.Tracer)
    return any(isinstance(leaf, kinds) for leaf in jax.tree.leaves(result))
