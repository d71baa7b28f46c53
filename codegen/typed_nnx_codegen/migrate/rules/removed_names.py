"""TN113: ``nnx.Empty``, ``nnx.TreeNode``, ``nnx.field`` and ``nnx.Ctx``, which are gone."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.patterns.transform_calls import without_keywords
from typed_nnx_codegen.migrate.registry import register

_FIELDS: Final = {"nnx.field": "", "nnx.static_field": "static", "nnx.treenode_field": "data"}
# The keywords of `dataclasses.field`, which the functions of today take too.
_KEYWORDS: Final = frozenset(
    {"compare", "default", "default_factory", "hash", "init", "kw_only", "metadata", "repr"}
)
# Keywords that said what a field holds, and what it holds where they are true.
_MARKS: Final = {"pytree_node": "data", "static": "static", "treenode": "data"}
_OPPOSITE: Final = {"data": "static", "static": "data"}
_EMPTY: Final = "an empty State is `nnx.State({})`, no value at all is None; see which is meant"
_CTX: Final = "a Module keeps its flags as attributes and its keys in an `nnx.Rngs`; pass those"


@register
class ReplaceRemovedNames(Renaming):
    """Names of early releases that have no direct successor.

    A `TreeNode` was a Variable with a tree as its value: it is an `nnx.Variable`.
    ``nnx.field(...)`` becomes `nnx.data` or `nnx.static` if its keywords say which, and
    `dataclasses.field` otherwise. Markers are left at `nnx.Empty` and `nnx.Ctx`, at fields with
    keywords that no longer exist, and at subclasses of `TreeNode` that have a body.
    """

    code = "TN113"
    title = "`nnx.Empty`, `nnx.TreeNode`, `nnx.field` and `nnx.Ctx` have no direct successor"
    since = (0, 9, 0)
    example = """\
- from flax.experimental import nnx
+ import typed_nnx as nnx

  @nnx.dataclass
  class Point(nnx.Pytree):
-     name: str = nnx.field(pytree_node=False)
+     name: str = nnx.static()
"""
    names = {"TreeNode": "Variable"}
    handles = frozenset(name.removeprefix("nnx.") for name in _FIELDS)
    gone = {
        "EMPTY": f"`nnx.EMPTY` is gone: {_EMPTY}",
        "Empty": f"`nnx.Empty` is gone: {_EMPTY}",
        "Ctx": f"`nnx.Ctx` is gone: {_CTX}",
    }

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rewrite ``nnx.field(...)``."""
        name = self.file.name(original.func)
        if name not in _FIELDS:
            return updated
        holds = _FIELDS[name]
        for arg in updated.args:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            if keyword in _KEYWORDS:
                continue
            flag = arg.value.value if isinstance(arg.value, cst.Name) else ""
            if keyword not in _MARKS or flag not in {"True", "False"}:
                self.file.decide(
                    original,
                    f"`{name}` is gone; write `nnx.data(...)` or `nnx.static(...)`, which take the"
                    " keywords of `dataclasses.field`",
                )
                return updated
            holds = _MARKS[keyword] if flag == "True" else _OPPOSITE[_MARKS[keyword]]
        new = self.file.refer(f"nnx.{holds}" if holds else "dataclasses.field")
        return without_keywords(updated, *_MARKS).with_changes(func=new)

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        """Mark a class below `TreeNode` that has more than a value."""
        if any(self.file.name(base.value) == "nnx.TreeNode" for base in original.bases):
            scope = self.file.analysis.scopes.get(original)
            owner = scope.owner if scope is not None else None
            if owner is not None and (owner.attributes or owner.annotated or owner.methods):
                self.file.decide(
                    original,
                    "a TreeNode was a Variable with a tree as its value; a class with attributes of"
                    " its own may be meant as an `nnx.Pytree`: write which of them it is",
                )
        return updated
