"""TN108: ``M.init``, ``M.create_abstract``, ``M.partial_init`` are calls of M under a transform."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.registry import Rule, register

_TO_WRITE: Final = {
    "create_abstract": "write `nnx.eval_shape(lambda: M(...))`",
    "init": "make the Module by a call of its class, and take it apart: `nnx.split(M(..., rngs=rngs))`"
    " gives the definition first today, and then the State",
    "partial_init": "make it with `nnx.jit(lambda: M(...))()`, then `nnx.update(model, state)`",
}


@register
class Constructors(Rule):
    """A Module is created by calling its class, if needed under a transform.

    `M.init(...)`, which returned the State and the definition of a new Module, gets a marker. So do
    `M.create_abstract(...)`, now `nnx.eval_shape`, and `M.partial_init(state)(...)`, now a call
    under `nnx.jit` with `nnx.update`. `nnx.TrainState(graphdef, params=, tx=)` becomes
    `nnx.TrainState.create`.
    """

    code = "TN108"
    title = "`M.init`, `M.create_abstract` and `M.partial_init` are calls of M under a transform"
    since = (0, 9, 0)
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

+ # TODO[typed-nnx] TN108: {_TO_WRITE["create_abstract"]}
  abstract = nnx.Linear.create_abstract(2, 3, rngs=nnx.Rngs(0))
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark a call of one of the methods."""
        if self._is_of_train_state(original):
            return updated.with_changes(func=cst.Attribute(updated.func, cst.Name("create")))
        function = original.func
        if isinstance(function, cst.Attribute) and function.attr.value in _TO_WRITE:
            name, method = function.attr.value, self.file.method(original)
            if method is not None and method.on_class and method.cls == "Module":
                self.file.decide(original, _TO_WRITE[name])
            elif method is None and name != "init" and self.file.is_unknown(function):
                self.file.decide(original, f"if this is a class of Modules, {_TO_WRITE[name]}")
        return updated

    def _is_of_train_state(self, call: cst.Call) -> bool:
        """Whether a call is ``nnx.TrainState(graphdef, params=..., tx=...)``, of flax 0.8.0."""
        if self.file.name(call.func) != "nnx.TrainState":
            return False
        named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
        return {"params", "tx"} <= named and "opt_state" not in named
