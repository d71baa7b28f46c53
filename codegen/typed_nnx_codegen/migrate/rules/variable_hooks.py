"""TN137: the hooks of a Variable are methods of a Variable class."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.registry import Rule, register
from typed_nnx_codegen.migrate.rules.keywords import keywords_of, makes

_METHODS: Final = {
    "on_add_axis": "add_axis",
    "on_create_value": "__init__",
    "on_get_value": "get_value",
    "on_remove_axis": "remove_axis",
    "on_set_value": "set_value",
}
_MESSAGE: Final = (
    "hooks are deprecated: make a class of your own, class MyVariable(nnx.{cls}), with {methods}, and "
    "use it instead of {hooks}"
)


@register
class HooksOfVariables(Rule):
    """Marks functions that a Variable is to call when its value is read or written.

    A class below `nnx.Variable` with `get_value` or `set_value` of its own does that now. The hooks
    still work and warn, so the rule changes nothing: what such a class is called, and which filters
    have to name it, is for a person to say.
    """

    code = "TN137"
    title = "The hooks of a Variable are methods of a Variable class"
    since = (0, 12, 0)
    still_works = True
    before = """\
import jax.numpy as jnp
from flax import nnx

v = nnx.Param(jnp.ones(3), on_get_value=lambda variable, value: value * 2)
"""
    after = """\
import jax.numpy as jnp
import typed_nnx as nnx

# TODO[typed-nnx] TN137: hooks are deprecated: make a class of your own, class MyVariable(nnx.Param), \
with get_value, and use it instead of on_get_value
v = nnx.Param(jnp.ones(3), on_get_value=lambda variable, value: value * 2)
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark a call that gives hooks."""
        hooks = sorted(keywords_of(original) & set(_METHODS))
        if hooks and self._takes_hooks(original):
            name = self.file.name(original.func).rpartition(".")[2]
            methods = ", ".join(dict.fromkeys(_METHODS[hook] for hook in hooks))
            cls = "Variable" if name in {"", "with_metadata", "with_partitioning"} else name
            self.file.decide(
                original, _MESSAGE.format(cls=cls, methods=methods, hooks=", ".join(hooks))
            )
        return updated

    def _takes_hooks(self, call: cst.Call) -> bool:
        if makes(self.file, call, "Variable"):
            return True
        return self.file.name(call.func) in {"nnx.with_metadata", "nnx.with_partitioning"}
