"""Calls of one of a few functions, classes or submodules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.linen.lists.grown_lists import condition_of
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import Choice, FieldModule, ModuleValue
from typed_nnx_codegen.migrate.linen.running.values import NONE, UNKNOWN, Value

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.running.executor import Executor


def call_of_choice(
    executor: Executor, callee: Choice, passed: list[Passed], node: cst.Call, frame: Frame
) -> Value:
    """Return what a call of one of a few functions, classes or submodules returns.

    Args:
        executor: What goes through the method.
        callee: What is called.
        passed: The arguments.
        node: The call.
        frame: Where it is.
    """
    there = [one for one in callee.options if one != NONE]
    modules = [one for one in there if isinstance(one, ModuleValue | FieldModule)]
    others = [one for one in there if one not in modules]
    if not others:
        return executor.module_calls.call(callee, "__call__", passed, node, frame)
    if any(executor.submodules.is_class(one) for one in others):
        if frame.records:
            frame.recorder.mark(node, "which class is constructed here depends on a branch")
        return UNKNOWN
    function = _joined(executor, others, passed, node, frame)
    if not modules:
        return function
    module = _joined(executor, modules, passed, node, frame)
    _check_arguments(node, frame)
    condition = condition_of(callee.condition, frame.recorder) if callee.condition else None
    if condition is None:
        return executor.merging.joined(module, function, frame)
    return executor.merging.chosen(condition, module, function, frame)


def _joined(
    executor: Executor, options: Sequence[Value], passed: list[Passed], node: cst.Call, frame: Frame
) -> Value:
    """Return what stands for the results of calls of some values."""
    value = executor.calls.dispatch(options[0], passed, node, frame)
    for one in options[1:]:
        other = executor.calls.dispatch(one, passed, node, frame)
        value = executor.merging.joined(value, other, frame)
    return value


def _check_arguments(node: cst.Call, frame: Frame) -> None:
    """Mark a call whose arguments NNX has otherwise for the submodule: the function has them too."""
    edits = frame.recorder.edits.get(node, []) if frame.records else []
    if any(one.arguments is not None for one in edits):
        frame.recorder.mark(
            node, "a function may stand for this submodule, and its arguments are written otherwise"
        )
