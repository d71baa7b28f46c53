"""TN106: ``m.update(state)`` is ``nnx.update(m, state)``."""

from __future__ import annotations

import re

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, Collection, Value
from typed_nnx_codegen.migrate.file import File, with_commas
from typed_nnx_codegen.migrate.patterns.definition_names import (
    is_called_definition,
    is_called_state,
)
from typed_nnx_codegen.migrate.patterns.method_calls import (
    Models,
    function_call,
    is_quick,
    module_method,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_METHODS = ("update", "update_state")
_OTHERS = re.compile(r"(^|[_.])(opt|optim|optimizer|tx|metrics?)_?\d*$")


class Undecided(Exception):
    """An argument of which it is not known what a function can take; the message says why."""


@register
class UpdateFunction(Rule):
    """A Module is updated by a function.

    The function takes only States: a definition among the arguments is dropped, and a Module is
    replaced by its State. A tuple gets a marker, and so does `update` of an unknown object that the
    file uses as a model.
    """

    code = "TN106"
    title = "`m.update(state)` is `nnx.update(m, state)`"
    since = (0, 9, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- model.update(nnx.state(model))
+ nnx.update(model, nnx.state(model))
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._models = Models(file)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of the method."""
        function = original.func
        if not isinstance(function, cst.Attribute) or function.attr.value not in _METHODS:
            return updated
        if module_method(self.file, original, *_METHODS) is None:
            if self._may_be_model(original, function.value):
                self.file.decide(
                    original,
                    f"if `{dotted(function.value) or 'this'}` is a Module, write"
                    " `nnx.update(m, state)`",
                )
            return updated
        try:
            args = self._arguments(original, updated)
        except Undecided as why:
            self.file.decide(original, f"`nnx.update(m, state)` takes States only; {why}")
            return updated
        return function_call("nnx.update", self.file, updated, args)

    def _may_be_model(self, call: cst.Call, receiver: cst.BaseExpression) -> bool:
        if not self.file.is_unknown(receiver) or not call.args:
            return False
        if any(self.file.is_a(arg.value, "GraphDef") for arg in call.args):
            return True
        return self._models.has(receiver) and not (
            is_called_state(receiver) or _OTHERS.search(dotted(receiver))
        )

    # -- arguments ----------------------------------------------------------------------------

    def _arguments(self, original: cst.Call, updated: cst.Call) -> tuple[cst.Arg, ...]:
        args: list[cst.Arg] = []
        for before, after in zip(original.args, updated.args, strict=True):
            args += self._argument(before, after)
        if not args:
            raise Undecided("here it gets none")
        if len(args) == len(updated.args):
            return tuple(args)
        return tuple(with_commas([*args[:-1], args[-1].with_changes(comma=_NO_COMMA)]))

    def _argument(self, before: cst.Arg, after: cst.Arg) -> list[cst.Arg]:
        value = self.file.value(before.value)
        if before.keyword is not None:
            raise Undecided("it has no keywords")
        if before.star or (isinstance(value, Collection) and value.kind != "dict"):
            raise Undecided("one of these may be the definition")
        return self._single(before, after, value)

    def _single(self, before: cst.Arg, after: cst.Arg, value: Value) -> list[cst.Arg]:
        if derives(value, "GraphDef") is True:
            if not is_quick(before.value):
                raise Undecided("one of these is the definition")
            return []
        if derives(value, "Module") is True:
            return [after.with_changes(value=self.file.call("nnx.state", after.value))]
        if value == UNKNOWN and is_called_definition(before.value):
            raise Undecided(f"leave out `{dotted(before.value)}` if it is the definition")
        return [after]


_NO_COMMA = cst.MaybeSentinel.DEFAULT
