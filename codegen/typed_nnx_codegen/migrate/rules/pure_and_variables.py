"""TN132: ``pure``, ``vars_as`` and ``abstract_with_sharding`` have new names."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.patterns.keywords import keywords_of, renamed_keywords
from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register

_KEYWORDS: Final = {"has_ref": "ref", "is_hijax": "hijax", "is_mutable": "mutable"}


@register
class PureAndVariables(Renaming):
    """Renames three functions over trees.

    The arguments are the same. The keywords that `vars_as` had in its first release are renamed
    too.
    """

    code = "TN132"
    title = "`pure`, `vars_as` and `abstract_with_sharding` have new names"
    since = (0, 12, 3)
    still_works = True
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- arrays = nnx.pure(nnx.state(model))
+ arrays = nnx.as_pure(nnx.state(model))
"""
    names = {"abstract_with_sharding": "as_abstract", "pure": "as_pure", "vars_as": "with_vars"}

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rename the first keywords of ``vars_as``."""
        if self.file.name(original.func) not in {"nnx.vars_as", "nnx.with_vars"}:
            return updated
        if keywords_of(original) & set(_KEYWORDS.values()):
            return updated
        return renamed_keywords(updated, _KEYWORDS)
