"""TN104: methods of Modules and definitions are functions, as ``nnx.merge(static, state)``."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import Collection
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL, with_commas
from typed_nnx_codegen.migrate.patterns.method_calls import (
    function_call,
    is_filter_of_nnx,
    is_quick,
)
from typed_nnx_codegen.migrate.patterns.transform_calls import with_argument
from typed_nnx_codegen.migrate.registry import Rule, register

_FUNCTIONS: Final = {
    "GraphDef.merge": "nnx.merge",
    "Module.clone": "nnx.clone",
    "Module.extract": "nnx.state",
    "Module.filter": "nnx.state",
    "Module.get_graphdef": "nnx.graphdef",
    "Module.get_state": "nnx.state",
    "Module.update": "nnx.update",
    "Module.update_state": "nnx.update",
}
_MARKED: Final = {
    "Module.apply": "it ran a copy and gave the result and the copy: write `copy = nnx.clone(m)` and `copy(x)`",
    "Module.create_abstract": "write `nnx.eval_shape(lambda: M(...))`",
    "Module.init": "make the Module by a call of its class, and take it apart: `nnx.split(M(..., "
    "rngs=rngs))` gives the definition first today, and then the State",
    "Module.modules": "write `nnx.iter_modules(m)`, which gives children first, with paths `('layers', 0)`",
    "Module.partial_init": "make it with `nnx.jit(lambda: M(...))()`, then `nnx.update(model, state)`",
}
_TAKE_FILTERS: Final = frozenset({"extract", "filter", "split"})
_STATE: Final = re.compile(r"(^|_)(flat|grads?|params?|rest|states?)_?\d*$")


class Undecided(Exception):
    """An argument of which it is not known what a function can take; the message says why."""


@register
class MethodsAreFunctions(Rule):
    """What Modules and definitions had methods for is a function.

    The methods gave copies of Variables: a State is that of `nnx.clone(m)`, and `nnx.merge` gets `copy=True`. Both
    can go where the other side is not used any more. `nnx.update` takes only States: a definition among the arguments
    is dropped, and a Module is replaced by its State. `M.init`, `M.create_abstract`, `M.partial_init`, `m.apply` and
    `m.modules` get a marker that says what to write, and so do methods with NNX filters of unknown objects.
    """

    code = "TN104"
    title = "`static.merge(state)` is `nnx.merge(static, state)`, and so are other methods"
    since = (0, 9, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  def forward(graphdef: nnx.GraphDef, state: nnx.State, x):
-     model = graphdef.merge(state)
-     return model(x), model.get_state()
+     model = nnx.merge(graphdef, state, copy=True)
+     return model(x), nnx.state(nnx.clone(model))
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rewrite or mark a call of one of the methods."""
        method = self.file.method(original)
        if method is None:
            self._mark_unknown(original)
            return updated
        called = f"{method.cls}.{method.name}"
        if called in _MARKED:
            self.file.decide(original, _MARKED[called])
        public = _FUNCTIONS.get(called, "")
        if not public or (method.on_class and public != "nnx.merge"):
            return updated
        if public == "nnx.update":
            return self._update(original, updated)
        if method.on_class:
            made = updated.with_changes(func=self.file.refer(public))
        else:
            made = function_call(public, self.file, updated)
        if public == "nnx.state":
            first, *others = made.args
            clone = self.file.call("nnx.clone", first.value)
            return made.with_changes(args=[first.with_changes(value=clone), *others])
        if public == "nnx.merge":
            own = cst.Arg(cst.Name("True"), keyword=cst.Name("copy"), equal=TIGHT_EQUAL)
            return with_argument(made, own)
        return made

    def _mark_unknown(self, call: cst.Call) -> None:
        """Mark a call with filters of NNX of something that may be a Module; a State has such methods, too."""
        match call:
            case cst.Call(func=cst.Attribute(owner, cst.Name(name)), args=[first, *_]) if (
                name in _TAKE_FILTERS
                and self.file.is_unknown(owner)
                and not _STATE.search(dotted(owner))
                and is_filter_of_nnx(self.file, first.value)
            ):
                function = "split" if name == "split" else "state"
                self.file.decide(
                    call,
                    f"if `{dotted(owner) or 'this'}` is a Module, write `nnx.{function}(m, ...)`; `split` gives "
                    "the definition first today; a State has `nnx.filter_state` and `nnx.split_state`",
                )

    # -- `m.update` -----------------------------------------------------------------------------------

    def _update(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        try:
            args = [
                arg
                for before, after in zip(original.args, updated.args, strict=True)
                for arg in self._states(before, after)
            ]
            if not args:
                raise Undecided("here it gets none")
        except Undecided as why:
            self.file.decide(original, f"`nnx.update(m, state)` takes States only; {why}")
            return updated
        if len(args) < len(updated.args):
            args = with_commas([*args[:-1], args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
        return function_call("nnx.update", self.file, updated, tuple(args))

    def _states(self, before: cst.Arg, after: cst.Arg) -> list[cst.Arg]:
        """Return the States that an argument is: none for a definition."""
        value = self.file.value(before.value)
        if before.keyword is not None:
            raise Undecided("it has no keywords")
        if before.star or (isinstance(value, Collection) and value.kind != "dict"):
            raise Undecided("one of these may be the definition")
        if derives(value, "GraphDef") is True:
            if not is_quick(before.value):
                raise Undecided("one of these is the definition")
            return []
        if derives(value, "Module") is True:
            return [after.with_changes(value=self.file.call("nnx.state", after.value))]
        return [after]
