"""TN103: ``nnx.VariableState`` is ``nnx.Variable``."""

from __future__ import annotations

from typed_nnx_codegen.migrate.registry import register
from typed_nnx_codegen.migrate.rules.renaming import Renaming


@register
class RenameVariableState(Renaming):
    """Leaves of a State are the Variables themselves; they have no class of their own any more."""

    code = "TN103"
    title = "`nnx.VariableState` is `nnx.Variable`"
    since = (0, 11, 0)
    before = """\
from flax import nnx

def is_leaf(x):
    return isinstance(x, nnx.VariableState)
"""
    after = """\
import typed_nnx as nnx

def is_leaf(x):
    return isinstance(x, nnx.Variable)
"""
    names = {"VariableState": "Variable"}
