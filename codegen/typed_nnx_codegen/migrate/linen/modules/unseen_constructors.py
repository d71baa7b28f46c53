"""Constructors of modules in methods that were not gone through: nothing is known of them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import children
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, Instance, ProjectClass
from typed_nnx_codegen.migrate.linen.builders.setup_calls import class_method
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import (
    LINEN,
    LinenClasses,
    Method,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.modules.untaken_sides import leave_out, untaken
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.writing.mark_places import MOVED_METHODS


def mark_unseen(recorder: Recorder, classes: LinenClasses) -> None:
    """Mark what methods construct in functions whose calls nobody sees.

    Args:
        recorder: What was seen of a module.
        classes: The modules of the project.
    """
    plan = recorder.plan
    written = {*plan.replacements, *plan.rebuilt, *plan.dropped}
    written |= {site.node for site in plan.sites}
    for method in plan.cls.methods().values():
        if method.node not in plan.methods and method.name not in MOVED_METHODS:
            continue
        dead = untaken(method.node, recorder)
        for node in _constructors(method, written, classes):
            if node in dead:
                leave_out(node, recorder)
                continue
            message = "a submodule is built here, in code that nothing is known to call"
            recorder.mark(node, message)


def _constructors(
    method: Method, written: set[cst.CSTNode], classes: LinenClasses
) -> Iterator[cst.Call]:
    """Yield the calls of classes of modules, and of their class methods, that stay as they are."""
    analysis = method.owner.analysis
    waiting: list[cst.CSTNode] = [method.node.body]
    while waiting:
        node = waiting.pop()
        if node in written:
            continue
        waiting += children(node)
        if not isinstance(node, cst.Call):
            continue
        value = analysis.values.get(node.func, UNKNOWN)
        if isinstance(value, External):
            public = public_linen(value.name)
            if public.startswith(f"{LINEN}.") and find_layer(public) is not None:
                yield node
        elif isinstance(value, ProjectClass) and classes.of(value) is not None:
            yield node
        elif class_method(node, analysis.values) is not None:
            made = analysis.values.get(node, UNKNOWN)
            cls = made.cls if isinstance(made, Instance) else None
            if isinstance(cls, ProjectClass) and classes.of(cls) is not None:
                yield node
