"""Plans the modules of a project, each once; those that others contain come first."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.classes import LinenClass, LinenClasses, Method
from typed_nnx_codegen.migrate.linen.entries import entries_of
from typed_nnx_codegen.migrate.linen.executor import Executor, TooLong
from typed_nnx_codegen.migrate.linen.frames import Frame, Recorder
from typed_nnx_codegen.migrate.linen.method_edits import edit_methods
from typed_nnx_codegen.migrate.linen.naming import Naming
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Mark
from typed_nnx_codegen.migrate.linen.printing import Printing
from typed_nnx_codegen.migrate.linen.references import SelfValue
from typed_nnx_codegen.migrate.linen.templates import Templates

_NOT_ENTERED: Final = frozenset({"setup", "__post_init__", "__hash__", "__eq__", "__repr__"})


class Planner:
    """Plans modules.

    Args:
        classes: The Linen modules of the project.
    """

    def __init__(self, classes: LinenClasses) -> None:
        self.classes = classes
        self.executor = Executor(classes, self.plan_of)
        self._plans: dict[LinenClass, ClassPlan] = {}

    def plan_of(self, cls: LinenClass) -> ClassPlan:
        """Return what becomes of a module."""
        if cls not in self._plans:
            self._plans[cls] = ClassPlan(cls)
            self._plans[cls] = self._plan(cls)
        return self._plans[cls]

    def _plan(self, cls: LinenClass) -> ClassPlan:
        recorder = Recorder(ClassPlan(cls), Templates())
        plan = recorder.plan
        self._plans[cls] = plan
        foreign = [name for name in cls.foreign if not _is_harmless(name)]
        if foreign:
            plan.marks.append(Mark(cls.node, f"it inherits from {', '.join(foreign)}"))
        instance = SelfValue(cls)
        recorder.instance = instance
        recorder.locals |= {"rngs", "self", *(one.name for one in cls.fields())}
        frame = Frame(recorder, cls.analysis, instance)
        try:
            for one in cls.fields():
                instance.fields[one.name] = self.executor.members.root_field(one, frame)
            self.executor.functions.set_up(instance, frame)
            roots = self._enter(instance, frame)
        except TooLong:
            plan.marks.append(Mark(cls.node, "its methods are too long to go through"))
            return plan
        naming = Naming(recorder)
        naming.run()
        Printing(recorder, self.executor, naming, roots).run()
        plan.entries = entries_of(recorder, self.plan_of)
        plan.stores_rngs = recorder.uses_rngs
        edit_methods(recorder, naming, self.executor)
        plan.is_done = True
        return plan

    def _enter(self, instance: SelfValue, frame: Frame) -> list[str]:
        """Go through the methods that are called from outside; those that others call are not."""
        methods = instance.cls.methods()
        first = [name for name in ("__call__",) if name in methods]
        compact = [name for name, one in methods.items() if one.is_compact]
        others = [name for name in methods if not name.startswith("_")]
        private = [name for name in methods if name.startswith("_")]
        roots: list[str] = []
        for name in dict.fromkeys([*first, *compact, *others, *private]):
            method = methods[name]
            if name in _NOT_ENTERED or name in frame.recorder.visited or not _is_called(method):
                continue
            roots.append(name)
            self.executor.functions.enter(instance, method, frame)
        return roots


def _is_called(method: Method) -> bool:
    return method.is_bound and not any(
        isinstance(one.decorator, cst.Attribute) and one.decorator.attr.value in ("setter", "deleter")
        for one in method.node.decorators
    )


def _is_harmless(name: str) -> bool:
    return name in ("builtins.object", "abc.ABC", "typing.Generic", "Generic", "ABC", "Protocol")
