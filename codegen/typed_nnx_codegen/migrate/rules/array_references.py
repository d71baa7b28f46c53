"""TN126: mutable arrays are array references."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import NNX, Array
from typed_nnx_codegen.migrate.file import with_commas
from typed_nnx_codegen.migrate.options import FLAX_NNX
from typed_nnx_codegen.migrate.registry import Rule, register

# What typed_nnx calls them, and what they are where NNX itself has none of them.
_OF_TYPED_NNX: Final = {
    "MutableArray": "ArrayRef",
    "freeze": "to_arrays",
    "is_mutable_array": "is_array_ref",
    "mutable": "to_refs",
    "mutable_array": "array_ref",
}
_OF_JAX: Final = {
    "ArrayRef": "jax.Ref",
    "MutableArray": "jax.Ref",
    "array_ref": "jax.new_ref",
    "mutable_array": "jax.new_ref",
}
# Functions over trees, and what they ask of the Variables of a Module or State.
_OVER_TREES: Final = {"freeze": False, "mutable": True, "to_arrays": False, "to_refs": True}
_TESTS: Final = frozenset({"is_array_ref", "is_mutable_array"})
_MODES: Final = frozenset({"use_refs", "using_refs"})

_NO_MODE = (
    "no mode makes all Variables hold references any more; make those that need it with "
    "nnx.Variable(x, ref=True), or use nnx.with_vars(model, ref=True)"
)
_NO_TREES = (
    "flax has no `{name}`; use nnx.with_vars(model, ref={ref}) for a Module or State, "
    "{one} for an array"
)
_ONE = {True: "jax.new_ref(x)", False: "ref[...]"}


@register
class ArrayReferences(Rule):
    """Gives the functions for mutable arrays the names that they have now.

    typed_nnx has them as `ArrayRef`, `array_ref`, `to_refs` and `to_arrays`. flax has none of them any
    more: the class and the function are those of jax (`jax.Ref`, `jax.new_ref`), and a Module or State
    becomes one with references by `nnx.with_vars(model, ref=True)`. A marker is left where flax has
    nothing for other trees, and at `use_refs`.
    """

    code = "TN126"
    title = "Mutable arrays are array references"
    since = (0, 12, 8)
    example = """\
  import jax.numpy as jnp
- from flax import nnx
+ import typed_nnx as nnx

- count = nnx.mutable_array(jnp.zeros(()))
+ count = nnx.array_ref(jnp.zeros(()))
"""
    handles = frozenset({*_OF_TYPED_NNX, *_OF_JAX, *_OVER_TREES, *_TESTS, *_MODES})

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rename ``nnx.mutable_array``."""
        return self._renamed(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        """Rename a name that is imported from NNX."""
        if self.file.scope.import_of(original.value) is None:
            return updated
        return self._renamed(original, updated)

    def _renamed(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        old = self._old_name(original)
        if not old:
            return updated
        if old in _MODES:
            self.file.decide(original, _NO_MODE)
            return updated
        if self.file.target == FLAX_NNX:
            return self.file.refer(_OF_JAX[old]) if old in _OF_JAX else updated
        new = _OF_TYPED_NNX.get(old, old)
        return updated if new == old else self.file.refer(f"{NNX}.{new}")

    def _old_name(self, node: cst.BaseExpression) -> str:
        """Return the name of NNX that this rule is about; empty for any other."""
        public = self.file.name(node)
        name = public.removeprefix(f"{NNX}.")
        return name if public != name and name in self.handles else ""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite functions that flax has no more, by what they are called with."""
        old = self._old_name(original.func)
        if self.file.target != FLAX_NNX or old not in {*_OVER_TREES, *_TESTS}:
            return updated
        is_plain = (
            len(original.args) == 1
            and not original.args[0].star
            and original.args[0].keyword is None
        )
        if is_plain and old in _TESTS:
            kind = cst.Arg(self.file.refer("jax.Ref"))
            return cst.Call(cst.Name("isinstance"), with_commas([updated.args[0], kind]))
        if is_plain and old in _OVER_TREES:
            made = self._of_tree(original.args[0].value, updated.args[0], _OVER_TREES[old])
            if made is not None:
                return made
        ref = _OVER_TREES.get(old, True)
        self.file.decide(original, _NO_TREES.format(name=old, ref=ref, one=_ONE[ref]))
        return updated

    def _of_tree(
        self, original: cst.BaseExpression, arg: cst.Arg, ref: bool
    ) -> cst.BaseExpression | None:
        """Return the call that makes references of arrays, or arrays of references; None if none."""
        if self.file.is_a(original, "Module", "Pytree", "State", "Variable"):
            return self.file.call("nnx.with_vars", arg, ref=cst.Name(str(ref)))
        if ref and isinstance(self.file.value(original), Array):
            return self.file.call("jax.new_ref", arg)
        return None
