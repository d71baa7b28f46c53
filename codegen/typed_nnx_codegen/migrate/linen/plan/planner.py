"""Plans the modules of a project, each once; those that others contain come first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    Build,
    Call,
    ClassPlan,
    Enter,
    Lifted,
    Mark,
)
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LinenClass,
    LinenClasses,
    Method,
    has_code,
    layer_subclass,
    protocols,
)
from typed_nnx_codegen.migrate.linen.domain.expr import Unnamed
from typed_nnx_codegen.migrate.linen.domain.frames import Frame, Recorder
from typed_nnx_codegen.migrate.linen.domain.references import SelfValue
from typed_nnx_codegen.migrate.linen.evaluate.entries import (
    entries_of,
    write_accesses,
    write_properties,
    write_reads,
)
from typed_nnx_codegen.migrate.linen.evaluate.executor import Executor, TooLong
from typed_nnx_codegen.migrate.linen.evaluate.lifts import name_optional
from typed_nnx_codegen.migrate.linen.evaluate.merging import of_arguments
from typed_nnx_codegen.migrate.linen.evaluate.module_calls import is_sayable, write_output
from typed_nnx_codegen.migrate.linen.evaluate.variables import mark_stacked
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.plan.naming import Naming
from typed_nnx_codegen.migrate.linen.plan.removed_parts import (
    drop_carry_cells,
    drop_leftovers,
    drop_unread,
    keep_marked,
    mark_class_uses,
    mark_restarted_names,
    mark_shifting_names,
    mark_unseen,
)
from typed_nnx_codegen.migrate.linen.project.fields import (
    Discovery,
    held_containers,
    optional_fields,
)
from typed_nnx_codegen.migrate.linen.project.gradual import Gradual
from typed_nnx_codegen.migrate.linen.trace.record import Trace
from typed_nnx_codegen.migrate.linen.write.method_edits import Moving, edit_methods
from typed_nnx_codegen.migrate.linen.write.printing import Printing

# Why the sizes of a class that derives from a layer of NNX are not written by name.
_SIGNATURE: Final = "its constructor is that of the NNX layer that it derives from"
_NOT_ENTERED: Final = frozenset({"setup", "__post_init__", "__hash__", "__eq__", "__repr__"})


class Planner:
    """Plans modules.

    Args:
        classes: The Linen modules of the project.
        refers: What spells public names, by the file in which they are written.
        trace: What a trace tells of the shapes that submodules are called with.
        gradual: The modules that stay in Linen, where NNX modules may hold such; None where not.
        on_module: Called after each look at a module, and after each plan.
    """

    def __init__(
        self,
        classes: LinenClasses,
        refers: Mapping[Path, Callable[[str], str]] | None = None,
        trace: Trace | None = None,
        gradual: Gradual | None = None,
        on_module: Callable[[], None] = lambda: None,
    ) -> None:
        self.classes = classes
        self.executor = Executor(classes, self.plan_of, trace, gradual)
        self._plans: dict[LinenClass, ClassPlan] = {}
        self._refers = refers or {}
        self._is_discovered = False
        self._on_module = on_module

    def plan_of(self, cls: LinenClass) -> ClassPlan:
        """Return what becomes of a module."""
        if not self._is_discovered:
            self._is_discovered = True
            Discovery(
                self.classes,
                self.executor.facts,
                self._explored,
                lambda seen: is_sayable(self.executor.code, seen, seen.returned),
            ).run()
        if cls not in self._plans:
            if self.executor.gradual is not None and cls in self.executor.gradual.kept:
                kept = self.executor.gradual.kept[cls]
                self._plans[cls] = ClassPlan(cls, stays=kept.why, problem=kept.problem)
                return self._plans[cls]
            self._plans[cls] = ClassPlan(cls)
            around = self.executor.names
            self.executor.names = self._refers.get(cls.analysis.path, around)
            try:
                self._plans[cls] = self._plan(cls)
            except Unnamed as error:
                self._plans[cls] = _staying(cls, str(error))
            # One module that we fail at must not take others along.
            except Exception as error:  # noqa: BLE001 - a bug of ours, which the report says
                self._plans[cls] = _failed(cls, described(error))
            finally:
                self.executor.names = around
            self._on_module()
        return self._plans[cls]

    def _plan(self, cls: LinenClass) -> ClassPlan:
        recorder = Recorder(ClassPlan(cls))
        plan = recorder.plan
        self._plans[cls] = plan
        foreign = [name for name in cls.foreign if not _is_harmless(name)]
        layers = [name for name in foreign if find_layer(name) is not None]
        subclass = layer_subclass(cls)
        if subclass is not None:
            plan.lifted.append(Lifted("in_features", why=_SIGNATURE))
            plan.derives = subclass
            plan.is_done = True
            return plan
        if layers:
            return _staying(cls, f"it inherits from {', '.join(layers)}")
        for _, protocol in protocols(cls):
            if has_code(protocol):
                return _staying(cls, f"it inherits code from `{protocol.name}`, a protocol")
        if foreign:
            plan.log.append(Mark(cls.node, f"it inherits from {', '.join(foreign)}"))
        try:
            roots = self._run(recorder)
        except TooLong:
            return _staying(cls, "its methods are too long to go through")
        if self.executor.facts.is_asked(cls):
            write_output(self.executor.code, recorder, recorder.returned)
        executor = self.executor
        write_accesses(recorder, executor.refer)
        inherited: dict[cst.CSTNode, str] = {}
        for base in reversed(cls.ancestry()[1:]):
            inherited |= self.plan_of(base).replacements
        drop_unread(recorder, self.classes)
        mark_stacked(recorder, self.plan_of)
        mark_restarted_names(recorder)
        mark_shifting_names(recorder)
        naming = Naming(recorder, inherited)
        naming.run()
        drop_carry_cells(recorder, self.executor.refer)
        name_optional(recorder)
        drop_leftovers(recorder, executor.refer)
        Printing(recorder, self.executor, naming, roots).run()
        write_properties(recorder)
        plan.entries = entries_of(recorder, self.plan_of)
        write_reads(recorder, self.plan_of)
        plan.stores_rngs = recorder.uses_rngs
        plan.held_calls = [
            (call.site, call.method, of_arguments(call.values, recorder))
            for call in plan.log.of(Call)
            if isinstance(call.site, str)
        ]
        plan.containers = held_containers(cls)
        plan.optional = optional_fields(cls, self.executor.facts)
        moving = Moving(recorder, executor.facts, self.plan_of, executor.refer)
        edit_methods(recorder, naming, moving, executor.refer)
        self.executor.lifted_calls.write(recorder)
        self.executor.lifted_methods.write(recorder)
        mark_unseen(recorder, self.classes)
        mark_class_uses(recorder)
        keep_marked(plan)
        plan.is_done = True
        return plan

    def _run(self, recorder: Recorder) -> list[str]:
        """Go through the methods of a module; return those that are called from outside."""
        cls = recorder.plan.cls
        instance = SelfValue(cls)
        recorder.instance = instance
        recorder.locals |= {"rngs", "self", *(one.name for one in cls.fields())}
        recorder.reserved |= set(_sizes_of_arguments(cls))
        frame = Frame(recorder, cls.analysis, instance)
        for one in cls.fields():
            instance.fields[one.name] = self.executor.members.root_field(one, frame)
        self.executor.functions.set_up(instance, frame)
        return self._enter(instance, frame)

    def _explored(self, cls: LinenClass) -> Recorder | None:
        """Go through a module to see what it gives others; nothing is planned."""
        recorder = Recorder(ClassPlan(cls))
        try:
            self._run(recorder)
        # It is gone through again when it is planned, and then it counts.
        except Exception:  # noqa: BLE001 - see above
            return None
        finally:
            self._on_module()
        return recorder

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
            log = frame.recorder.log
            entered = {one.method.name.value for one in log.of(Enter)}
            if name in _NOT_ENTERED or name in entered or not _is_called(method):
                continue
            sites = len(log.of(Build))
            lines = len(frame.recorder.block)
            value = self.executor.functions.enter(instance, method, frame)
            if name == "__call__":
                frame.recorder.returned = value
            built = log.of(Build)[sites:]
            for one in built:
                one.site.entry = name
            if built and not method.is_compact and not _is_compact_below(built, methods):
                # Only methods of other classes call it: they are planned with it.
                log.drop(*built)
                del frame.recorder.block[lines:]
                frame.recorder.mark(
                    built[0].site.node, f"`{name}` builds submodules, and nothing here calls it"
                )
                continue
            roots.append(name)
        return roots


def _staying(cls: LinenClass, why: str) -> ClassPlan:
    """Return the plan of a module that stays in Linen."""
    return ClassPlan(cls, stays=why)


def _failed(cls: LinenClass, problem: str) -> ClassPlan:
    """Return the plan of a module that we failed at."""
    return ClassPlan(cls, stays=problem, problem=problem)


def _sizes_of_arguments(cls: LinenClass) -> Iterator[str]:
    """Yield the names that sizes of arguments may get as parameters of the constructor."""
    for method in cls.methods().values():
        for parameter in list(method.parameters())[1:]:
            yield f"{parameter.name.value}_features"
            yield f"{parameter.name.value}_shape"


def _is_compact_below(built: list[Build], methods: dict[str, Method]) -> bool:
    """Whether submodules are built by compact methods."""
    names = [one.site.method for one in built]
    return all(name in methods and methods[name].is_compact for name in names)


def _is_called(method: Method) -> bool:
    return method.is_bound and not any(
        isinstance(one.decorator, cst.Attribute)
        and one.decorator.attr.value in ("setter", "deleter")
        for one in method.node.decorators
    )


def _is_harmless(name: str) -> bool:
    return name in ("builtins.object", "abc.ABC", "typing.Generic", "Generic", "ABC", "Protocol")
