"""TN104: ``static.merge(state)`` is ``nnx.merge(static, state)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted, has_star, parameters_of
from typed_nnx_codegen.migrate.analysis.values import Method, ProjectFunction, Scope, Wrapped
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL, File
from typed_nnx_codegen.migrate.patterns.definition_names import is_called_definition
from typed_nnx_codegen.migrate.patterns.kept_states import KeptStates, is_of_first_versions
from typed_nnx_codegen.migrate.patterns.method_calls import function_call
from typed_nnx_codegen.migrate.patterns.transform_calls import with_argument
from typed_nnx_codegen.migrate.registry import Rule, register

_OF_A_TUPLE = (
    "`nnx.merge` takes the definition and then the States, one by one; this is one tuple, which had the "
    "definition last: `*states, static = ...`, then `nnx.merge(static, *states)`"
)


@register
class MergeFunction(Rule):
    """A GraphDef and States are merged by a function.

    The model then holds the Variables of the States themselves. `copy=True` is added where these
    are in use outside of the enclosing function, cannot change under a transform, or are read after
    the model was used. The function of flax 0.8.0 took one tuple. An unknown object with a `.merge`
    gets a marker if its name is that of a definition: `static`, `graphdef`, `moduledef`.
    """

    code = "TN104"
    title = "`static.merge(state)` is `nnx.merge(graphdef, state)`"
    since = (0, 9, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  def forward(graphdef: nnx.GraphDef, state: nnx.State, x):
-     return graphdef.merge(state)(x)
+     return nnx.merge(graphdef, state)(x)
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._called: set[cst.BaseExpression] = set()
        self._shared = SharedVariables(file)
        self._kept = KeptStates(file)
        self._is_old = is_of_first_versions(file)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of a method `merge` of a definition, and of the function of that time."""
        function = original.func
        if self.file.name(function) == "nnx.merge":
            return self._function(original, updated)
        if not isinstance(function, cst.Attribute) or function.attr.value != "merge":
            return updated
        method = self.file.method(original)
        if method is not None and method.cls == "GraphDef":
            if method.on_class:
                made = updated.with_changes(func=self.file.refer("nnx.merge"))
                return self._with_own_variables(original, original.args[1:], made)
            made = function_call("nnx.merge", self.file, updated)
            return self._with_own_variables(original, original.args, made)
        if self.file.is_unknown(function.value) and self._may_be_definition(original, function):
            self.file.decide(
                original,
                f"if `{dotted(function.value) or 'this'}` is a definition that `split` gave, write"
                " `nnx.merge(definition, state)`",
            )
        return updated

    def _function(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark ``nnx.merge((state, static))``, and ask for copies where they were made."""
        if has_star(original) or any(arg.keyword is not None for arg in original.args):
            return updated
        if len(original.args) == 1:
            pair = original.args[0].value
            # Later versions merge what `nnx.unpack` gives, one object.
            is_one_object = isinstance(pair, cst.Call) and not self.file.is_unknown(pair)
            if isinstance(pair, cst.Tuple) or (self._is_old and not is_one_object):
                self.file.decide(original, _OF_A_TUPLE)
            return updated
        return (
            self._with_own_variables(original, original.args[1:], updated)
            if self._is_old
            else updated
        )

    def _with_own_variables(
        self, original: cst.Call, states: Sequence[cst.Arg], made: cst.Call
    ) -> cst.Call:
        """Ask for new Variables where those of a State are in use outside of the model."""
        values = [arg.value for arg in states]
        is_shared = any(
            self._shared.has(value) or dotted(value).startswith("self.") for value in values
        )
        if not is_shared and not self._kept.is_merged_again(original, values):
            return made
        own = cst.Arg(cst.Name("True"), keyword=cst.Name("copy"), equal=TIGHT_EQUAL)
        return with_argument(made, own)

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite a method that is passed on: ``jax.vmap(static.merge)``."""
        if original.attr.value != "merge" or original in self._called:
            return updated
        value = self.file.value(original)
        if not isinstance(value, Method) or self.file.is_a(original.value, "GraphDef") is not True:
            return updated
        return self.file.call("functools.partial", self.file.refer("nnx.merge"), updated.value)

    def plan(self) -> None:
        """Find the methods that are called where they are read."""
        self._called = {node.func for node in self.file.analysis.known.of(cst.Call)}

    def _may_be_definition(self, call: cst.Call, function: cst.Attribute) -> bool:
        return bool(call.args) and is_called_definition(function.value)


# -- Variables that are in use elsewhere ------------------------------------------------------------


# What they do not differentiate goes into the function as it is.
_GRADIENTS: Final = frozenset({"jax.grad", "jax.value_and_grad"})


class SharedVariables:
    """Knows which expressions of a file are States from outside of the function they are in.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._differentiated: frozenset[ProjectFunction] | None = None

    def has(self, node: cst.BaseExpression) -> bool:
        """Whether an expression at the place that is being rewritten is from outside."""
        root = dotted(node).partition(".")[0]
        scope = _function_scope(self._file.scope)
        if not root or scope is None or scope.function is None:
            return False
        if scope.owner_of(root) is not scope:
            return True
        names = [each.name.value for each in parameters_of(scope.function.node.params)]
        if root not in names[1:] or "." in dotted(node):
            return False
        return self._is_differentiated(scope.function)

    def _is_differentiated(self, function: ProjectFunction) -> bool:
        if self._differentiated is None:
            wrapped = [
                value.function
                for value in self._file.analysis.values.values()
                if isinstance(value, Wrapped) and value.by in _GRADIENTS
            ]
            self._differentiated = frozenset(
                each for each in wrapped if isinstance(each, ProjectFunction)
            )
        decorated = not _GRADIENTS.isdisjoint(function.decorators)
        return decorated or function in self._differentiated


def _function_scope(scope: Scope | None) -> Scope | None:
    while scope is not None and scope.kind != "function":
        scope = scope.parent
    return scope
