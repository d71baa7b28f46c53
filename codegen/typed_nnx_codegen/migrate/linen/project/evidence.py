"""Reads what a project constructs its modules with, before any of them is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import External, ProjectClass
from typed_nnx_codegen.migrate.linen.domain.class_plan import Call, Site
from typed_nnx_codegen.migrate.linen.domain.classes import Field, LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.domain.frames import Evaluate, Frame, Recorder
from typed_nnx_codegen.migrate.linen.domain.references import ClassRef, SelfValue
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Array, Value
from typed_nnx_codegen.migrate.linen.project.fields import FieldFacts, held_kind, size_fields

# The values that a function assigns to names.
_Locals = Mapping[str, list[cst.BaseExpression]]
_Given = tuple[cst.BaseExpression, Analysis, _Locals]
_DEEPEST: Final = 4
_NO_LOCALS: Final[_Locals] = {}


class Evidence:
    """Collects the arguments of the constructors of modules.

    Args:
        classes: The Linen modules of the project.
        evaluate: Goes through an expression.
        value_of_file: Gives the class or function that a name at a place of a file refers to.
    """

    def __init__(
        self,
        classes: LinenClasses,
        evaluate: Evaluate,
        value_of_file: Callable[[cst.BaseExpression, Frame], Value | None],
    ) -> None:
        self._classes = classes
        self._evaluate = evaluate
        self._value_of_file = value_of_file
        self._found: dict[tuple[LinenClass, str], list[_Given]] = {}
        # What dictionaries have by a name: settings that a constructor gets with ``**``.
        self._named: dict[str, list[tuple[cst.BaseExpression, Analysis]]] = {}
        self._is_read = False

    def of(self, one: Field, frame: Frame) -> list[Value]:
        """Return what callers outside of modules give for a field, where that is a kind of thing."""
        if not self._is_read:
            self._is_read = True
            for analysis in self._classes.analyses:
                self._read(analysis)
        found: list[Value] = []
        for (cls, name), given in self._found.items():
            if name == one.name and one.owner in cls.ancestry():
                for node, analysis, names in given:
                    at = Frame(frame.recorder, analysis, records=False)
                    found += self._values(node, names, at, 0)
        if not found and one.default is None:
            for node, analysis in (*self._named.get(one.name, ()), *_compared(one)):
                at = Frame(frame.recorder, analysis, records=False)
                kinds = self._values(node, _NO_LOCALS, at, 0)
                found += [value for value in kinds if isinstance(value, ClassRef)]
            known = {value.cls for value in found if isinstance(value, ClassRef)}
            found += [ClassRef(cls, cls.name, cls.home) for cls in self._derived(known)]
        return [value for value in found if held_kind(value) is not None]

    def _values(
        self, node: cst.BaseExpression, names: _Locals, frame: Frame, depth: int
    ) -> list[Value]:
        """Return what an expression of a function may stand for; nothing for plain values."""
        if depth > _DEEPEST:
            return []
        if isinstance(node, cst.Name) and node.value in names:
            return [
                value
                for one in names[node.value]
                for value in self._values(one, names, frame, depth + 1)
            ]
        if isinstance(node, (cst.Name, cst.Attribute)):
            value = self._value_of_file(node, frame)
            return [] if value is None else [value]
        if isinstance(node, cst.IfExp):
            sides = (node.body, node.orelse)
            return [one for side in sides for one in self._values(side, names, frame, depth + 1)]
        if not isinstance(node, cst.Call):
            return []
        inner = Frame(frame.recorder, frame.analysis, records=False)
        for below in descendants(node):
            if isinstance(below, cst.Name) and below.value in names:
                options = self._values(below, names, frame, depth + 1)
                inner.names[below.value] = options[0] if len(options) == 1 else UNKNOWN
        return [self._evaluate(node, inner)]

    def _derived(self, known: set[LinenClass]) -> Iterator[LinenClass]:
        """Yield the modules that derive from one of some."""
        for analysis in self._classes.analyses:
            for cls in self._classes.all_in(analysis):
                if cls not in known and known & set(cls.ancestry()):
                    yield cls

    def _read(self, analysis: Analysis) -> None:
        for table in analysis.nodes.of(cst.Dict):
            for item in table.elements:
                match item:
                    case cst.DictElement(key=cst.SimpleString() as key, value=held):
                        known = self._named.setdefault(str(key.evaluated_value), [])
                        known.append((held, analysis))
        within = dict(_local_names(analysis, self._classes))
        for call in analysis.nodes.of(cst.Call):
            if call not in within:
                continue  # of a method of a module, which is gone through
            target: cst.BaseExpression = call.func
            args = list(call.args)
            value = analysis.values.get(target, NOT_KNOWN)
            if isinstance(value, External) and value.name == "functools.partial" and args:
                target = args[0].value
                args = args[1:]
                value = analysis.values.get(target, NOT_KNOWN)
            if not isinstance(value, ProjectClass):
                continue
            cls = self._classes.of(value)
            if cls is None:
                continue
            names = [field.name for field in cls.fields()]
            for position, arg in enumerate(args):
                if arg.star:
                    break
                if arg.keyword is not None:
                    name = arg.keyword.value
                elif position < len(names):
                    name = names[position]
                else:
                    continue
                given = (arg.value, analysis, within[call])
                self._found.setdefault((cls, name), []).append(given)


def _local_names(analysis: Analysis, classes: LinenClasses) -> Iterator[tuple[cst.Call, _Locals]]:
    """Yield the calls outside of methods of modules, with what names of their function are."""
    inside = {
        node
        for cls in classes.all_in(analysis)
        for method in cls.own_methods.values()
        for node in descendants(method.node)
    }
    for call in analysis.nodes.of(cst.Call):
        if call not in inside:
            yield call, _NO_LOCALS
    for function in analysis.nodes.of(cst.FunctionDef):
        if function in inside:
            continue
        below = list(descendants(function))
        names: dict[str, list[cst.BaseExpression]] = {}
        for node in below:
            match node:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value
                ):
                    names.setdefault(name, []).append(value)
        for node in below:
            if isinstance(node, cst.Call) and node not in inside:
                yield node, names


def _compared(one: Field) -> Iterator[tuple[cst.BaseExpression, Analysis]]:
    """Yield what methods compare a field with: ``self.block_class == ResNetBlock``."""
    for method in one.owner.own_methods.values():
        for node in descendants(method.node):
            match node:
                case cst.Comparison(
                    left=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)),
                    comparisons=[
                        cst.ComparisonTarget(operator=cst.Equal() | cst.Is(), comparator=value)
                    ],
                ) if name == one.name:
                    yield value, one.owner.analysis


_MOST_ROUNDS: Final = 6


class Discovery:
    """Goes through all modules until nothing new is found of their fields.

    Args:
        classes: The Linen modules of the project.
        facts: What is found.
        explored: Goes through a module; None where that fails.
        has_output: Whether the constructor of a module that was gone through can say the last
            size of what it returns.
    """

    def __init__(
        self,
        classes: LinenClasses,
        facts: FieldFacts,
        explored: Callable[[LinenClass], Recorder | None],
        has_output: Callable[[Recorder], bool],
    ) -> None:
        self._has_output = has_output
        self._classes = classes
        self._facts = facts
        self._explored = explored
        self._sites: dict[LinenClass, tuple[Site, ...]] = {}

    def run(self) -> None:
        """Find what the constructions of modules give for their fields."""
        every = [cls for one in self._classes.analyses for cls in self._classes.all_in(one)]
        pending = every
        for _ in range(_MOST_ROUNDS):
            for cls in pending:
                self._look(cls)
            changed = self._note(every)
            changed |= {cls for cls in every if cls in changed and self._is_refused(cls)}
            if not changed:
                return
            # What a module is given says what others give on, and what its objects return.
            pending = every

    def _look(self, cls: LinenClass) -> None:
        recorder = self._explored(cls)
        if recorder is not None:
            self._sites[cls] = recorder.plan.sites
            instance = recorder.instance
            assert isinstance(instance, SelfValue)
            for value in instance.fields.values():
                self._facts.note_inner(value)
            self._facts.note_output(cls, self._has_output(recorder))

    def _note(self, every: list[LinenClass]) -> set[LinenClass]:
        """Note what sites give; return the modules whose fields are seen in a new light."""
        for sites in self._sites.values():
            for site in (other for one in sites for other in (one, *one.alternatives)):
                for bound in site.given.values():
                    self._facts.note_inner(bound.value)
                if isinstance(site.target, LinenClass):
                    self._facts.note(site.target, site.given)
        changed = set(self._facts.changed)
        self._facts.changed.clear()
        return {cls for cls in every if any(base in changed for base in cls.ancestry())}

    def _is_refused(self, cls: LinenClass) -> bool:
        """Keep fields in the constructor where submodules of the module need them there."""
        if not any(self._facts.is_of_call(cls, one.name) for one in cls.fields()):
            return False
        moved = self._explored(cls)
        self._facts.pause(cls)
        kept = self._explored(cls)
        self._facts.resume()
        if moved is None or kept is None or self._worth(moved) <= self._worth(kept):
            return False
        return self._facts.refuse(cls, size_fields(self._facts, kept.plan.sites))

    def _worth(self, recorder: Recorder) -> int:
        """Return how much of a module is not known."""
        found = len(recorder.plan.marks)
        for site in recorder.plan.sites:
            for name, bound in site.given.items():
                if bound.code is None and not self._moves(site, name):
                    found += 1
            for call in recorder.log.about(Call, site):
                found += sum(
                    isinstance(value, Array) and value.shape.axis(-1) is None
                    for value in call.values.values()
                )
        return found

    def _moves(self, site: Site, name: str) -> bool:
        bound = site.given[name]
        if any(True for _ in self._facts.moved(bound.value)):
            return True
        return self._facts.is_moved(site.target, name)
