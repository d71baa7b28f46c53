"""TN130: methods of State are functions."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, dotted, has_star
from typed_nnx_codegen.migrate.file import MethodCall, with_commas
from typed_nnx_codegen.migrate.patterns.flat_states import FlatStates
from typed_nnx_codegen.migrate.patterns.method_calls import function_call, is_quick, loses_comment
from typed_nnx_codegen.migrate.registry import Rule, register

_FUNCTIONS: Final = {
    "filter": "nnx.filter_state",
    "flat_state": "nnx.to_flat_state",
    "from_flat_path": "nnx.from_flat_state",
    "map": "nnx.map_state",
    "merge": "nnx.merge_state",
    "replace_by_pure_dict": "nnx.replace_by_pure_dict",
    "split": "nnx.split_state",
    "to_pure_dict": "nnx.to_pure_dict",
}
# They do not take the State that they are called on.
_OF_THE_CLASS: Final = frozenset({"from_flat_path", "merge"})
# No other class has such methods.
_OF_STATES_ONLY: Final = frozenset(
    {"flat_state", "from_flat_path", "replace_by_pure_dict", "to_pure_dict"}
)
_PACKAGES: Final = frozenset({"flax_nnx", "nnx"})
_PAIRS: Final = (
    "to go through a flat state gave its paths before flax 0.10.3, as of a dict, and gives pairs of path "
    "and value now; write `.paths` if paths are meant"
)


@register
class FunctionsOfStates(Rule):
    """Calls functions instead of the methods of State: `nnx.to_flat_state(state)`.

    A flat state was a dict by path and is now a sequence of pairs. Where a program uses it as a
    dict (`flat[path]`, `flat.items()`), it becomes `dict(nnx.to_flat_state(state))`. Iteration
    (`for path in flat`) gets a marker, since it may mean either. `state.merge(other)` on an object
    never had the items of `state`, which is hardly intended: it gets a marker, as do methods that
    only States have, on unknown objects.
    """

    code = "TN130"
    title = "Methods of State are functions"
    since = (0, 11, 0)
    still_works = True
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
  state = nnx.state(model)
- shapes = state.map(lambda path, leaf: leaf.shape)
- for path, leaf in state.flat_state().items():
+ shapes = nnx.map_state(lambda path, leaf: leaf.shape, state)
+ for path, leaf in nnx.to_flat_state(state):
      print(path, leaf)
"""

    def plan(self) -> None:
        """Find the flat states that are used as dicts."""
        self._flat = FlatStates(self.file)

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite ``nnx.State.merge`` and the like, called or handed on."""
        name = original.attr.value
        if name not in _FUNCTIONS or self.file.name(original) != f"nnx.State.{name}":
            return updated
        if name == "map":
            return updated  # the order of the arguments differs; see the call
        return self.file.refer(_FUNCTIONS[name])

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite calls of methods of a State, and of a flat state."""
        flat = self._flat.rewritten_call(original, updated)
        if flat is not None:
            return flat
        if self.file.name(original.func) == "nnx.to_flat_state":
            return self._flat.as_dict(original, updated)
        if (
            not isinstance(original.func, cst.Attribute)
            or original.func.attr.value not in _FUNCTIONS
        ):
            return updated
        method = self.file.method(original)
        if method is None:
            self._mark_unknown(original)
            return updated
        if method.cls != "State":
            return updated
        if method.on_class:
            return self._on_class(original, updated, method)
        made = self._on_object(original, updated, method)
        return self._flat.as_dict(original, made)

    def leave_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression:
        """Rewrite ``state.flat_state()[path]``."""
        return self._flat.rewritten_item(original, updated)

    def leave_ComparisonTarget(
        self, original: cst.ComparisonTarget, updated: cst.ComparisonTarget
    ) -> cst.ComparisonTarget:
        """Rewrite ``path in state.flat_state()``."""
        return self._flat.rewritten_test(original, updated)

    # -- objects ------------------------------------------------------------------------------

    def _on_object(
        self, original: cst.Call, updated: cst.Call, method: MethodCall
    ) -> cst.BaseExpression:
        public = _FUNCTIONS[method.name]
        takes_state_first = method.name not in _OF_THE_CLASS and method.name != "map"
        if loses_comment(original) or (not takes_state_first and _has_comment(original)):
            self.file.decide(original, f"it is `{public}(...)`; where does the comment go?")
            return updated
        if method.name == "flat_state" and self._flat.may_give_paths(original):
            self.file.decide(original, _PAIRS)
        if takes_state_first:
            return function_call(public, self.file, updated)
        if method.name == "merge":
            self.file.decide(
                original,
                "`merge` leaves out the State that it is called on; `nnx.merge_state(a, b)` has both",
            )
            return updated
        if method.name == "map":
            return self._mapped(original, updated, method)
        if is_quick(method.receiver):
            return updated.with_changes(func=self.file.refer(public))
        self.file.decide(original, f"`{public}(...)` takes no State; is it needed here?")
        return updated

    def _mapped(
        self, original: cst.Call, updated: cst.Call, method: MethodCall
    ) -> cst.BaseExpression:
        """Rewrite ``state.map(f)``: the function comes first now."""
        if (
            len(original.args) != 1
            or has_star(original)
            or not isinstance(updated.func, cst.Attribute)
            # The State is made before the function.
            or not (is_quick(method.receiver) or is_quick(original.args[0].value))
        ):
            self.file.decide(original, "it is `nnx.map_state(f, state)`")
            return updated
        (function,) = updated.args
        state = cst.Arg(updated.func.value, comma=function.comma)
        function = function.with_changes(
            keyword=None, equal=cst.MaybeSentinel.DEFAULT, comma=cst.MaybeSentinel.DEFAULT
        )
        called = self.file.refer("nnx.map_state")
        return updated.with_changes(func=called, args=with_commas([function, state]))

    # -- the class ----------------------------------------------------------------------------

    def _on_class(
        self, original: cst.Call, updated: cst.Call, method: MethodCall
    ) -> cst.BaseExpression:
        if method.name == "map":
            self.file.decide(original, "it is `nnx.map_state(f, state)`")
        return updated  # the attribute is rewritten already

    def _mark_unknown(self, original: cst.Call) -> None:
        assert isinstance(original.func, cst.Attribute)
        name, receiver = original.func.attr.value, original.func.value
        if name not in _OF_STATES_ONLY or not self.file.is_unknown(receiver):
            return
        if isinstance(receiver, cst.Call) and not self.file.is_unknown(receiver.func):
            return  # of another package
        if dotted(receiver).rpartition(".")[2] in _PACKAGES:
            return  # the function, of a package that is handed in
        what = dotted(receiver) or "this"
        self.file.decide(
            original, f"is `{what}` an `nnx.State`? then it is `{_FUNCTIONS[name]}(...)`"
        )


def _has_comment(call: cst.Call) -> bool:
    """Whether there is a comment between an object and its method."""
    return isinstance(call.func, cst.Attribute) and "#" in code_of(call.func.dot)
