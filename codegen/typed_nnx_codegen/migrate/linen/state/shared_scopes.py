"""Modules that share their variables with another one: `nn.share_scope`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.names.site_names import sites_in
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import (
    Choice,
    FieldModule,
    ModuleValue,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.running.values import NONE, Value


def share_scope(passed: Sequence[Passed], node: cst.Call, frame: Frame) -> Value:
    """Note that a submodule has the scope of the module, or the module that of one in a field."""
    if not frame.records:
        return NONE  # the plan of its class tells it
    match [one.value for one in passed]:
        case [SelfValue() as owner, ModuleValue() | Choice() as other] if (
            owner is frame.instance and _is_built(other)
        ):
            if frame.method is not None:
                for site in sites_in(other):
                    site.shares = True
                frame.recorder.plan.dropped |= set(_statements_of(node, frame.method.node))
            return NONE
        case [SelfValue() as owner, FieldModule(name=name)] if owner is frame.instance and any(
            name == one.name for one in owner.cls.fields()
        ):
            if frame.method is not None:
                frame.recorder.plan.shared = name
                frame.recorder.plan.dropped |= set(_statements_of(node, frame.method.node))
            return NONE
    frame.recorder.mark(node, "`nn.share_scope` with a module from outside is not migrated")
    return NONE


def is_scope(node: cst.BaseExpression, frame: Frame) -> bool:
    """Whether an expression is the scope of the module, which it has wherever methods run."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="scope")):
            return isinstance(frame.lookup(name), SelfValue)
    return False


def _is_built(value: Value) -> bool:
    """Whether a value is one of some submodules that are built here."""
    if isinstance(value, Choice):
        return all(_is_built(one) for one in value.options)
    return isinstance(value, ModuleValue)


def _statements_of(node: cst.Call, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    """Yield the statement that is nothing but a call."""
    for line in descendants(function):
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=value)]) if value is node:
                yield line
