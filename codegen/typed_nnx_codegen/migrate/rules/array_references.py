"""TN126: mutable arrays are array references."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import NNX
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
_NO_MODE = (
    "no mode makes all Variables hold references any more; make those that need it with "
    "nnx.Variable(x, ref=True), or use nnx.with_vars(model, ref=True)"
)
# What flax has no successor for.
_TYPED_ONLY: Final = {
    "freeze": "nnx.with_vars(model, ref=False), or ref[...]",
    "is_array_ref": "isinstance(x, jax.Ref)",
    "is_mutable_array": "isinstance(x, jax.Ref)",
    "mutable": "nnx.with_vars(model, ref=True), or jax.new_ref(x)",
    "to_arrays": "nnx.with_vars(model, ref=False), or ref[...]",
    "to_refs": "nnx.with_vars(model, ref=True), or jax.new_ref(x)",
}


@register
class ArrayReferences(Rule):
    """Renames the functions for mutable arrays.

    typed_nnx calls them `ArrayRef`, `array_ref`, `to_refs` and `to_arrays`. flax no longer has
    them: for that target the class and the function become those of jax (`jax.Ref`, `jax.new_ref`),
    and the functions over trees get a marker, as does `use_refs` for both.
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
    handles = frozenset({*_OF_TYPED_NNX, *_OF_JAX})
    gone = {
        **{name: f"flax has no `{name}`; write {new}" for name, new in _TYPED_ONLY.items()},
        **dict.fromkeys(("use_refs", "using_refs"), _NO_MODE),
    }

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
        public = self.file.name(original)
        old = public.removeprefix(f"{NNX}.")
        if public == old:
            return updated
        if self.file.target == FLAX_NNX:
            return self.file.refer(_OF_JAX[old]) if old in _OF_JAX else updated
        return self.file.refer(f"{NNX}.{_OF_TYPED_NNX[old]}") if old in _OF_TYPED_NNX else updated
