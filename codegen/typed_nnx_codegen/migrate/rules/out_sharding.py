"""TN131: ``sharding=`` and ``sharding_names`` are ``out_sharding``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    argument,
    code_of,
    descendants,
    dotted,
    text_of,
)
from typed_nnx_codegen.migrate.analysis.values import Instance, without_none
from typed_nnx_codegen.migrate.patterns.keywords import keywords_of, makes, renamed_keywords
from typed_nnx_codegen.migrate.registry import Rule, register

_NEW: Final = "out_sharding"
_OLD: Final = frozenset({"sharding", "sharding_names"})
_NAMES: Final = dict.fromkeys(_OLD, _NEW)
_BY_NAME: Final = frozenset({"del_metadata", "get_metadata", "has_metadata"})
_PLACEMENT: Final = (
    "`{code}.sharding` was the names of axes and is the sharding of the array now; write "
    "{code}.out_sharding if names are meant"
)
_NO_MESH: Final = (
    "names of axes place the array where the Variable is made now, and need a mesh there: make it under "
    "`with jax.set_mesh(mesh):`, which `with mesh:` does not replace, or with eager_sharding=False"
)
_PARTITIONING: Final = "nnx.with_partitioning"
# What says that a file knows of the mesh in force, or that its arrays are not placed by their names.
_KNOWING: Final = frozenset({"eager_sharding", "set_mesh", "use_eager_sharding", "use_mesh"})
_MESHES: Final = frozenset({"jax.make_mesh", "jax.sharding.Mesh"})


@register
class OutSharding(Rule):
    """Names the mesh axes of a Variable with `out_sharding`.

    The keywords of Variables and of `nnx.with_metadata`, the metadata of that name, and the
    attribute `sharding_names` are renamed. The attribute `sharding` of a Variable is now the
    sharding of its array: it gets a marker if the Variable was created with names. The argument of
    `nnx.with_partitioning` is still called `sharding`.

    Names used to be only metadata; now they place the array, which fails without a current mesh. So
    in files that do not set a mesh with today's jax, the first Variable with older names and no
    mesh gets a marker, and so does ``with mesh:`` around them.
    """

    code = "TN131"
    title = "`sharding=` and `sharding_names` are `out_sharding`"
    since = (0, 12, 0)
    still_works = True
    example = """\
  import jax.numpy as jnp
- from flax import nnx
+ import typed_nnx as nnx

- v = nnx.Param(jnp.zeros((2, 3)), sharding=(None, "model"), mesh=mesh)
- print(v.sharding_names)
+ v = nnx.Param(jnp.zeros((2, 3)), out_sharding=(None, "model"), mesh=mesh)
+ print(v.out_sharding)
"""

    def plan(self) -> None:
        """Find out what the file says of meshes and of names of axes."""
        self._has_names = self._has_partitioning = self._knows_mesh = False
        self._is_marked = False
        for node in self.file.analysis.values:
            if isinstance(node, (cst.Name, cst.Attribute)):
                last = node.value if isinstance(node, cst.Name) else node.attr.value
                self._knows_mesh |= last in _KNOWING
                self._has_partitioning |= (
                    last == "with_partitioning" and self.file.name(node) == _PARTITIONING
                )
            elif isinstance(node, cst.Call):
                given = keywords_of(node)
                self._knows_mesh |= "eager_sharding" in given
                self._has_names |= bool(given & _OLD) and makes(self.file, node, "Variable")

    def leave_With(self, original: cst.With, updated: cst.With) -> cst.With:
        """Mark ``with mesh:`` in a file that gives Variables names of axes."""
        if self._has_names or self._has_partitioning:
            for item in original.items:
                if self._is_mesh(item.item):
                    self._mark(item.item)
        return updated

    def _is_mesh(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Call):
            return self.file.name(node.func) in _MESHES
        name = dotted(node).rpartition(".")[2]
        return name.endswith("mesh") and self.file.is_unknown(node)

    def _mark(self, node: cst.CSTNode) -> None:
        """Leave one marker in a file that does not set a mesh as jax does it now."""
        if not self._is_marked and not self._knows_mesh:
            self._is_marked = True
            self.file.decide(node, _NO_MESH)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rename keywords and names of metadata."""
        method = self.file.method(original)
        if method is not None and method.cls == "Variable" and not method.on_class:
            if method.name == "set_metadata":
                updated = self._renamed(original, updated)
            if method.name in _BY_NAME or method.name == "set_metadata":
                return self._by_name(updated)
            return updated
        if makes(self.file, original, "Variable"):
            renamed = self._renamed(original, updated)
            if renamed is not updated and _needs_mesh(original):
                self._mark(original)
            return renamed
        if self.file.name(original.func) == "nnx.with_metadata":
            return self._renamed(original, updated)
        return updated

    @staticmethod
    def _renamed(original: cst.Call, updated: cst.Call) -> cst.Call:
        given = keywords_of(original)
        if _NEW in given or len(given & _OLD) != 1:
            return updated
        return renamed_keywords(updated, _NAMES)

    @staticmethod
    def _by_name(call: cst.Call) -> cst.Call:
        first = argument(call, 0, "")
        text = text_of(first.value) if first is not None else None
        if first is None or text not in _OLD or not isinstance(first.value, cst.SimpleString):
            return call
        quoted = first.value.with_changes(value=first.value.value.replace(text or "", _NEW))
        rest = [first.with_changes(value=quoted) if arg is first else arg for arg in call.args]
        return call.with_changes(args=rest)

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        """Rename ``v.sharding_names``, and mark ``v.sharding`` of a Variable made with names."""
        if original.attr.value not in _OLD or not self.file.is_a(original.value, "Variable"):
            return updated
        if original.attr.value == "sharding_names":
            return updated.with_changes(attr=updated.attr.with_changes(value=_NEW))
        value = without_none(self.file.value(original.value))
        made = value.origin if isinstance(value, Instance) else None
        if self._has_axes(made):
            self.file.decide(original, _PLACEMENT.format(code=code_of(original.value)))
        return updated

    def _has_axes(self, made: cst.Call | None) -> bool:
        """Whether a Variable has names of axes by the call that made it, as far as that tells."""
        if made is None or made not in self.file.analysis.values:
            # That of a layer, whose initializers the file may have given names.
            return self._has_partitioning
        if keywords_of(made) & _OLD:
            return True
        return self._has_partitioning and any(
            isinstance(node, cst.Call) and self.file.name(node.func) == _PARTITIONING
            for node in descendants(made)
        )


def _needs_mesh(call: cst.Call) -> bool:
    """Whether a call gives names of axes, and no mesh."""
    names = [arg.value for arg in call.args if arg.keyword and arg.keyword.value in _OLD]
    return "mesh" not in keywords_of(call) and not all(
        isinstance(one, cst.Name) and one.value == "None" for one in names
    )
