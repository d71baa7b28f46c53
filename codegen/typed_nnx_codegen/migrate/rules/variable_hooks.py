"""TN137: the hooks of a Variable are methods of a Variable class."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.patterns.keywords import keywords_of, makes
from typed_nnx_codegen.migrate.registry import Rule, register

_METHODS: Final = {
    "on_add_axis": "add_axis",
    "on_create_value": "__init__",
    "on_get_value": "get_value",
    "on_remove_axis": "remove_axis",
    "on_set_value": "set_value",
}
# What the keywords were called in the first releases: nothing calls those any more.
_HOOKS: Final = {
    **_METHODS,
    **{f"{name.removeprefix('on_')}_hooks": method for name, method in _METHODS.items()},
}
_MESSAGE: Final = (
    "hooks are deprecated{ignored}: make a class of your own, class MyVariable(nnx.{cls}), with "
    "{methods}, and use it instead of {hooks}"
)


@register
class HooksOfVariables(Rule):
    """Marks functions that a Variable calls when its value is read or written.

    Now a subclass of `nnx.Variable` overrides `get_value` or `set_value`. The hooks still work,
    with a warning, so the rule leaves them: you decide on the name of the class, and which filters
    use it. ``get_value_hooks=f`` and the like, which are no longer called, are marked too.
    """

    code = "TN137"
    title = "The hooks of a Variable are methods of a Variable class"
    since = (0, 12, 0)
    still_works = True
    example = """\
  import jax.numpy as jnp
- from flax import nnx
+ import typed_nnx as nnx

+ # TODO[typed-nnx] TN137: hooks are deprecated: make a class of your own, class MyVariable(nnx.Param), \
with get_value, and use it instead of on_get_value
  v = nnx.Param(jnp.ones(3), on_get_value=lambda variable, value: value * 2)
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark a call that gives hooks."""
        hooks = sorted(keywords_of(original) & set(_HOOKS))
        if hooks and self._takes_hooks(original):
            name = self.file.name(original.func).rpartition(".")[2]
            cls = "Variable" if name in {"", "with_metadata", "with_partitioning"} else name
            methods = ", ".join(dict.fromkeys(_HOOKS[hook] for hook in hooks))
            older = ", ".join(hook for hook in hooks if hook not in _METHODS)
            ignored = f", and nothing calls {older} any more" if older else ""
            names = ", ".join(hooks)
            message = _MESSAGE.format(ignored=ignored, cls=cls, methods=methods, hooks=names)
            self.file.decide(original, message)
        return updated

    def _takes_hooks(self, call: cst.Call) -> bool:
        if makes(self.file, call, "Variable"):
            return True
        return self.file.name(call.func) in {"nnx.with_metadata", "nnx.with_partitioning"}
