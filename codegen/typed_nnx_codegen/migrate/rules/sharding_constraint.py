"""TN136: ``nnx.with_sharding_constraint`` is the function of jax."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, has_star, is_name
from typed_nnx_codegen.migrate.file import with_commas
from typed_nnx_codegen.migrate.patterns.keywords import keywords_of
from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register

_OLD: Final = "nnx.with_sharding_constraint"
_SPEC: Final = ("axis_resources", "logical_axis_resources", "shardings")
_UNSURE: Final = (
    "nnx.with_sharding_constraint(x, spec, mesh) is jax.lax.with_sharding_constraint(x, sharding); "
    "make the sharding of the arguments that are given here"
)


@register
class ShardingConstraint(Renaming):
    """Calls `jax.lax.with_sharding_constraint`.

    A tuple of names becomes a `PartitionSpec`, with a mesh a `NamedSharding`. Unclear arguments get
    a marker.
    """

    code = "TN136"
    title = "`nnx.with_sharding_constraint` is the function of jax"
    since = (0, 11, 2)
    example = """\
  import jax
- from flax import nnx
  from jax.sharding import PartitionSpec as P

  def f(x):
-     return nnx.with_sharding_constraint(x, P("data"))
+     return jax.lax.with_sharding_constraint(x, P("data"))
"""
    names = {"with_sharding_constraint": "jax.lax.with_sharding_constraint"}

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Give the function of jax its two arguments."""
        if self.file.name(original.func) != _OLD:
            return updated
        spec = self._spec(updated)
        extra = keywords_of(original) - {"x", "mesh", *_SPEC}
        if has_star(original) or spec is None or extra or len(original.args) > 3:
            self.file.decide(original, _UNSURE)
            return updated
        mesh = argument(updated, 2, "mesh")
        if mesh is not None and is_name(mesh.value, "None"):
            mesh = None
        sharding = self._sharding(spec, mesh)
        if sharding is spec.value and len(updated.args) == 2 and spec.keyword is None:
            return updated
        first = argument(updated, 0, "x")
        if first is None:
            self.file.decide(original, _UNSURE)
            return updated
        last = updated.args[-1]
        args = [
            first.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT),
            cst.Arg(sharding, comma=last.comma, whitespace_after_arg=last.whitespace_after_arg),
        ]
        return updated.with_changes(args=with_commas(args))

    @staticmethod
    def _spec(call: cst.Call) -> cst.Arg | None:
        for keyword in _SPEC:
            found = argument(call, 1, keyword)
            if found is not None:
                return found
        return None

    def _sharding(self, spec: cst.Arg, mesh: cst.Arg | None) -> cst.BaseExpression:
        value = spec.value
        if isinstance(value, cst.Tuple):
            names = [cst.Arg(element.value) for element in value.elements]
            value = self.file.call("jax.sharding.PartitionSpec", *names)
        if mesh is None:
            return value
        return self.file.call("jax.sharding.NamedSharding", mesh.value, value)
