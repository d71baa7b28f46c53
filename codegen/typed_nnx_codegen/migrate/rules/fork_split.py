"""TN123: ``rngs.fork(n)`` and ``rngs.fork(split=n)`` are ``rngs.split(n)``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    argument,
    code_of,
    dotted,
    has_star,
    is_name,
    number_of,
)
from typed_nnx_codegen.migrate.analysis.values import Collection, Constant, Plain, Value, options_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.transform_calls import renamed_keyword, without_keywords
from typed_nnx_codegen.migrate.registry import Rule, register

_UNSURE: Final = (
    "`rngs.split(n)` if all streams are split; `rngs.fork().split({name: n})` if only some are, since "
    "`split` alone shares the other streams"
)
_FUNCTION: Final = (
    "`nnx.split_rngs(node, splits=n, only=F)` splits the streams that a filter matches; write one for each "
    "number, and `nnx.fork_rngs(node)` if the others are to be forked"
)
_STREAM: Final = (
    "`fork(n)` of a stream gave keys; `stream.split(n)` gives a stream of n keys, and "
    "`jax.random.split(stream(), n)` the keys"
)
_UNKNOWN: Final = "is this an `nnx.Rngs`? then `fork(n)` is `split(n)`, which gives Rngs, no keys"
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


@register
class SplitInsteadOfFork(Rule):
    """Splits keys with `split` and `nnx.split_rngs`; `fork` and `nnx.fork_rngs` give new keys only.

    The keys are the same. `fork(n)` of flax 0.9 returned a dict of keys, which the mapped function passed to
    `nnx.Rngs(keys)`; `split(n)` returns Rngs, so that call is removed, also where the keys are an argument. A
    marker is left where the number may be a mapping of some streams: `fork` also forked the others, while `split`
    shares them with the Rngs.
    """

    code = "TN123"
    title = "`rngs.fork(n)` and `rngs.fork(split=n)` are `rngs.split(n)`"
    since = (0, 10, 0)
    still_works = True
    example = """\
  import jax
- from flax import nnx
+ import typed_nnx as nnx

  def create(keys):
-     return nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(keys)))
+     return nnx.state(nnx.Linear(2, 3, rngs=keys))

- states = jax.vmap(create)(nnx.Rngs(0).fork(5))
- each = nnx.Rngs(0).fork(split=3)
+ states = jax.vmap(create)(nnx.Rngs(0).split(5))
+ each = nnx.Rngs(0).split(3)
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite ``rngs.fork(n)``, ``nnx.fork_rngs(node, split=n)`` and ``nnx.Rngs(keys)``."""
        name = self.file.name(original.func)
        if name == "nnx.Rngs":
            return self._unwrapped(original, updated)
        if name == "nnx.fork_rngs":
            return self._function(original, updated)
        match original.func:
            case cst.Attribute(receiver, cst.Name("fork")) if original.args:
                return self._method(original, updated, receiver)
        return updated

    def _function(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        given = argument(original, None, "split")
        if given is None:
            return updated
        if is_name(given.value, "None"):
            return without_keywords(updated, "split")
        value = argument(updated, None, "split")
        if value is None or has_star(original) or not _is_number(self.file, given.value):
            self.file.decide(original, _FUNCTION)
            return updated
        renamed = renamed_keyword(updated, "split", "splits", value.value)
        return renamed.with_changes(func=self.file.refer("nnx.split_rngs"))

    def _method(
        self, original: cst.Call, updated: cst.Call, receiver: cst.BaseExpression
    ) -> cst.BaseExpression:
        method, first = self.file.method(original), original.args[0]
        if method is None:
            named = first.keyword is not None or not self.file.is_unknown(receiver)
            if not named and dotted(receiver).rpartition(".")[2].endswith("rngs"):
                self.file.decide(original, _UNKNOWN)
            return updated
        if method.cls == "RngStream" and first.keyword is None:
            self.file.decide(original, _STREAM)
        elif method.cls in {"Rngs", "RngStream"}:
            is_one = len(original.args) == 1
            is_split = first.keyword is None or first.keyword.value == "split"
            if is_one and is_split and is_name(first.value, "None"):
                return updated.with_changes(args=[])
            if is_one and is_split and _is_number(self.file, first.value):
                arg = updated.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
                assert isinstance(updated.func, cst.Attribute)
                func = updated.func.with_changes(attr=cst.Name("split"))
                return updated.with_changes(func=func, args=[arg])
            self.file.decide(original, _UNSURE)
        return updated

    def _unwrapped(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return what ``nnx.Rngs`` is called with, where that is Rngs already."""
        if len(original.args) != 1 or original.args[0].keyword or original.args[0].star == "*":
            return updated
        arg = updated.args[0]
        if not self.file.is_a(original.args[0].value, "Rngs"):
            return updated
        if isinstance(arg.value, _ATOMS) and "#" not in code_of(updated):
            return arg.value.with_changes(
                lpar=[*updated.lpar, *arg.value.lpar], rpar=[*arg.value.rpar, *updated.rpar]
            )
        return arg.value.with_changes(
            lpar=[cst.LeftParen(updated.whitespace_before_args), *arg.value.lpar],
            rpar=[*arg.value.rpar, cst.RightParen(arg.whitespace_after_arg)],
        )


def _is_number(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression is surely an int or a tuple of ints."""
    if isinstance(node, cst.Tuple):
        return all(_is_number(file, element.value) for element in node.elements)
    if isinstance(node, cst.BinaryOperation):
        # Mappings have `|` only.
        return not isinstance(node.operator, cst.BitOr)
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute):
        return node.value.attr.value == "shape"
    if isinstance(node, cst.Call) and file.name(node.func).startswith("jax."):
        return file.name(node.func).endswith("device_count")
    if isinstance(number_of(node), int):
        return True
    return all(_is_int(option) for option in options_of(file.value(node)))


def _is_int(value: Value) -> bool:
    if isinstance(value, Collection) and value.kind == "tuple" and value.items:
        return all(_is_int(item) for item in value.items)
    return isinstance(value, (Constant, Plain)) and value.type_name == "int"
