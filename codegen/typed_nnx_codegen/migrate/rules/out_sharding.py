"""TN131: ``sharding=`` and ``sharding_names`` are ``out_sharding``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, code_of, text_of
from typed_nnx_codegen.migrate.analysis.values import Instance, without_none
from typed_nnx_codegen.migrate.registry import Rule, register
from typed_nnx_codegen.migrate.rules.keywords import keywords_of, makes, renamed_keywords

_NEW: Final = "out_sharding"
_OLD: Final = frozenset({"sharding", "sharding_names"})
_NAMES: Final = dict.fromkeys(_OLD, _NEW)
_BY_NAME: Final = frozenset({"del_metadata", "get_metadata", "has_metadata"})
_PLACEMENT: Final = (
    "`{code}.sharding` was the names of axes and is the sharding of the array now; write "
    "{code}.out_sharding if names are meant"
)


@register
class OutSharding(Rule):
    """Names the axes of a Variable over a mesh with `out_sharding`.

    The keywords of Variables and of `nnx.with_metadata`, the metadata of that name, and the attribute
    `sharding_names` are renamed. The attribute `sharding` of a Variable is another thing now, the
    sharding of its array: it gets a marker where the Variable was made with names. The argument of
    `nnx.with_partitioning` is still called `sharding`.
    """

    code = "TN131"
    title = "`sharding=` and `sharding_names` are `out_sharding`"
    since = (0, 12, 0)
    still_works = True
    before = """\
import jax.numpy as jnp
from flax import nnx

v = nnx.Param(jnp.zeros((2, 3)), sharding=(None, "model"))
print(v.sharding_names)
"""
    after = """\
import jax.numpy as jnp
import typed_nnx as nnx

v = nnx.Param(jnp.zeros((2, 3)), out_sharding=(None, "model"))
print(v.out_sharding)
"""

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
            return self._renamed(original, updated)
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
        if made is not None and keywords_of(made) & _OLD:
            self.file.decide(original, _PLACEMENT.format(code=code_of(original.value)))
        return updated
