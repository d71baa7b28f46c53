"""TN137: the hooks of a Variable are methods of a Variable class."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import ProjectFunction
from typed_nnx_codegen.migrate.patterns.keywords import keywords_of, makes, renamed_keywords
from typed_nnx_codegen.migrate.registry import Rule, register

_METHODS: Final = {
    "on_add_axis": "add_axis",
    "on_create_value": "__init__",
    "on_get_value": "get_value",
    "on_remove_axis": "remove_axis",
    "on_set_value": "set_value",
}
# What the keywords were called in the first releases, where they took lists of functions too.
_OLDER: Final = {f"{name.removeprefix('on_')}_hooks": name for name in _METHODS}
_MESSAGE: Final = (
    "hooks are deprecated: make a class of your own, class MyVariable(nnx.{cls}), with {methods}, and "
    "use it instead of {hooks}"
)
_IGNORED: Final = (
    "`{hook}=` is taken for metadata now, and what it names is not called: make a class of your own, "
    "class MyVariable(nnx.{cls}), with {methods} that does what it did"
)


@register
class HooksOfVariables(Rule):
    """Marks functions that a Variable is to call when its value is read or written.

    A class below `nnx.Variable` with `get_value` or `set_value` of its own does that now. The hooks
    still work and warn, so the rule leaves them: what such a class is called, and which filters
    have to name it, is for a person to say. ``get_value_hooks=f`` and the like, which nothing calls
    any more, are ``on_get_value=f`` first.
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
        """Mark a call that gives hooks, and give them the keywords that are still known."""
        given = keywords_of(original)
        hooks = sorted(given & set(_METHODS))
        older = sorted(given & set(_OLDER))
        if not (hooks or older) or not self._takes_hooks(original):
            return updated
        name = self.file.name(original.func).rpartition(".")[2]
        cls = "Variable" if name in {"", "with_metadata", "with_partitioning"} else name
        renamed = {hook: _OLDER[hook] for hook in older if self._is_one(original, hook)}
        for hook in older:
            if hook not in renamed:
                method = _METHODS[_OLDER[hook]]
                message = _IGNORED.format(hook=hook, cls=cls, methods=method)
                self.file.decide(original, message)
        hooks = sorted({*hooks, *renamed.values()})
        if hooks:
            methods = ", ".join(dict.fromkeys(_METHODS[hook] for hook in hooks))
            message = _MESSAGE.format(cls=cls, methods=methods, hooks=", ".join(hooks))
            self.file.decide(original, message)
        return renamed_keywords(updated, renamed)

    def _is_one(self, call: cst.Call, hook: str) -> bool:
        """Whether an older keyword has surely one function, and the newer one is not given."""
        value = next(arg.value for arg in call.args if arg.keyword and arg.keyword.value == hook)
        is_function = isinstance(self.file.value(value), ProjectFunction)
        return is_function and _OLDER[hook] not in keywords_of(call)

    def _takes_hooks(self, call: cst.Call) -> bool:
        if makes(self.file, call, "Variable"):
            return True
        return self.file.name(call.func) in {"nnx.with_metadata", "nnx.with_partitioning"}
