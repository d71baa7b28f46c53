"""Calls of one of a few functions, classes or submodules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.linen.lists.grown_lists import condition_of
from typed_nnx_codegen.migrate.linen.modules.submodules import Submodules
from typed_nnx_codegen.migrate.linen.running.frames import Dispatch, Frame
from typed_nnx_codegen.migrate.linen.running.merging import Merging
from typed_nnx_codegen.migrate.linen.running.module_calls import ModuleCalls
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import Choice, FieldModule, ModuleValue
from typed_nnx_codegen.migrate.linen.running.values import NONE, UNKNOWN, Value


@dataclass(frozen=True, eq=False)
class ChoiceCalls:
    """Calls one of a few functions, classes or submodules.

    Attributes:
        module_calls: Calls submodules.
        merging: Joins values.
        dispatch: Goes through a call of something.
    """

    module_calls: ModuleCalls
    merging: Merging
    dispatch: Dispatch

    def call(self, callee: Choice, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what a call of one of a few functions, classes or submodules returns.

        Args:
            callee: What is called.
            passed: The arguments.
            node: The call.
            frame: Where it is.
        """
        there = [one for one in callee.options if one != NONE]
        modules = [one for one in there if isinstance(one, ModuleValue | FieldModule)]
        others = [one for one in there if one not in modules]
        if not others:
            return self.module_calls.call(callee, "__call__", passed, node, frame)
        if any(Submodules.is_class(one) for one in others):
            if frame.records:
                frame.recorder.mark(node, "which class is constructed here depends on a branch")
            return UNKNOWN
        function = self._joined(others, passed, node, frame)
        if not modules:
            return function
        module = self._joined(modules, passed, node, frame)
        _check_arguments(node, frame)
        condition = condition_of(callee.condition, frame.recorder) if callee.condition else None
        if condition is None:
            return self.merging.joined(module, function, frame)
        return self.merging.chosen(condition, module, function, frame)

    def _joined(
        self, options: Sequence[Value], passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what stands for the results of calls of some values."""
        value = self.dispatch(options[0], passed, node, frame)
        for one in options[1:]:
            other = self.dispatch(one, passed, node, frame)
            value = self.merging.joined(value, other, frame)
        return value


def _check_arguments(node: cst.Call, frame: Frame) -> None:
    """Mark a call whose arguments NNX has otherwise for the submodule: the function has them too."""
    edits = frame.recorder.edits.get(node, []) if frame.records else []
    if any(one.arguments is not None for one in edits):
        frame.recorder.mark(
            node, "a function may stand for this submodule, and its arguments are written otherwise"
        )
