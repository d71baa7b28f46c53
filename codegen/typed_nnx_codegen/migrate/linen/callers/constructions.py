"""Where callers construct modules, and where they use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    Instance,
    ProjectClass,
    Value,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, LinenClasses

JIT: Final = frozenset({"jax.jit", "jax.experimental.pjit.pjit"})


@dataclass(eq=False)
class Construction:
    """A call that constructs a module outside of modules.

    Attributes:
        node: The call.
        cls: The module.
        analysis: The file.
        uses: Where its object is used.
        owner: The construction whose field it is given for.
        is_mixed: Whether some use may be of this object or of another one.
    """

    node: cst.Call
    cls: LinenClass
    analysis: Analysis
    uses: list[Use] = field(default_factory=list)
    owner: Construction | None = None
    is_mixed: bool = False

    __hash__ = object.__hash__


@dataclass(eq=False)
class Use:
    """An attribute of a module that is read outside of modules.

    Attributes:
        node: The attribute: ``model.apply``.
        analysis: The file.
        classes: The modules that it may be of.
        constructions: Where they are constructed, as far as that is known.
        call: The call of it, if it is called at once; also through ``jax.jit``.
    """

    node: cst.Attribute
    analysis: Analysis
    classes: tuple[LinenClass, ...]
    constructions: tuple[Construction, ...]
    call: cst.Call | None

    __hash__ = object.__hash__

    @property
    def name(self) -> str:
        """The attribute."""
        return self.node.attr.value


class Constructions:
    """What callers of a project do with its modules.

    Args:
        classes: The modules of the project.
        plans: What becomes of them.

    Attributes:
        every: The places where modules are constructed.
        uses: The places where their attributes are read.
        planned: The nodes that modules deal with: functions may be part of what a module does.
    """

    def __init__(self, classes: LinenClasses, plans: Iterable[ClassPlan]) -> None:
        self._classes = classes
        self.planned: set[cst.CSTNode] = set()
        for plan in plans:
            self.planned |= {site.node for site in plan.sites} | set(plan.replacements)
        self._places: dict[int, Places] = {}
        self.every: dict[cst.Call, Construction] = {}
        self.uses: dict[cst.Attribute, Use] = {}
        for analysis in classes.analyses:
            self._read_constructions(analysis)
        for analysis in classes.analyses:
            self._read_uses(analysis)

    def places(self, analysis: Analysis) -> Places:
        """Return where the nodes of a file stand."""
        found = self._places.get(id(analysis))
        if found is None:
            nodes = [cls.node for cls in self._classes.all_in(analysis)]
            found = self._places[id(analysis)] = Places(analysis.tree, nodes)
        return found

    def classes_of(self, value: Value) -> tuple[LinenClass, ...]:
        """Return the modules that a value is surely an object of; none where it is not sure."""
        found: dict[LinenClass, None] = {}
        for option in options_of(without_none(value)):
            if not isinstance(option, Instance) or not isinstance(option.cls, ProjectClass):
                return ()
            cls = self._classes.of(option.cls)
            if cls is None:
                return ()
            found[cls] = None
        return tuple(found)

    def is_module_class(self, value: Value) -> bool:
        """Whether a value is the class of a module of the project."""
        return isinstance(value, ProjectClass) and self._classes.of(value) is not None

    def made_by(self, value: Value) -> tuple[Construction, ...]:
        """Return where the objects that a value stands for are constructed."""
        found: list[Construction] = []
        for option in options_of(without_none(value)):
            if isinstance(option, Instance) and option.origin in self.every:
                found.append(self.every[option.origin])
        return tuple(found)

    def _read_constructions(self, analysis: Analysis) -> None:
        places = self.places(analysis)
        for call in analysis.nodes.of(cst.Call):
            value = analysis.values.get(call, UNKNOWN)
            if call not in places or call in self.planned or not isinstance(value, Instance):
                continue
            if value.origin is not call:
                continue
            cls = self._classes.of(value.cls) if isinstance(value.cls, ProjectClass) else None
            if cls is None:
                continue
            one = Construction(call, cls, analysis)
            for around in places.around(call):
                if isinstance(around, cst.BaseStatement):
                    break
                is_other = isinstance(around, cst.Call) and around in self.every
                if isinstance(around, cst.Call) and is_other and not _is_func(around, call, places):
                    one.owner = self.every[around]
                    break
            self.every[call] = one

    def _read_uses(self, analysis: Analysis) -> None:
        places = self.places(analysis)
        for node in analysis.nodes.of(cst.Attribute):
            if node not in places:
                continue
            value = analysis.values.get(node.value, UNKNOWN)
            classes = self.classes_of(value)
            if not classes:
                continue
            made = self.made_by(value)
            options = options_of(without_none(value))
            one = Use(node, analysis, classes, made, _call_of(node, analysis, places))
            self.uses[node] = one
            for each in made:
                each.uses.append(one)
                each.is_mixed = each.is_mixed or len(options) > 1
            if len(made) < len(options):
                self._mix(classes)

    def _mix(self, classes: tuple[LinenClass, ...]) -> None:
        for one in self.every.values():
            one.is_mixed = one.is_mixed or one.cls in classes

    def remaining(self, call: cst.Call) -> cst.CSTNode:
        """Return where a marker for a module in a field stays: where the variables are made."""
        for one in self.every.values():
            uses = [use.call for use in one.uses if use.name == "init" and use.call is not None]
            if uses and any(arg.value is call for arg in one.node.args):
                return uses[0]
        return call

    def in_file(self, analysis: Analysis) -> Iterator[Construction]:
        """Yield the constructions in a file."""
        return (one for one in self.every.values() if one.analysis is analysis)

    def uses_in(self, analysis: Analysis) -> Iterator[Use]:
        """Yield the uses in a file."""
        return (one for one in self.uses.values() if one.analysis is analysis)


def _is_func(around: cst.Call, node: cst.CSTNode, places: Places) -> bool:
    """Whether a node is in what is called, not in an argument."""
    return any(one is around.func for one in (node, *places.around(node)))


def _call_of(node: cst.Attribute, analysis: Analysis, places: Places) -> cst.Call | None:
    """Return the call of an attribute: `m.init(...)`, also `jax.jit(m.init)(...)`."""
    parent = places.parent(node)
    if isinstance(parent, cst.Call) and parent.func is node:
        return parent
    if node.attr.value != "init" or not isinstance(parent, cst.Arg):
        return None
    wrapper = places.parent(parent)
    if not isinstance(wrapper, cst.Call) or len(wrapper.args) != 1:
        return None
    value = analysis.values.get(wrapper.func, UNKNOWN)
    outer = places.parent(wrapper)
    if isinstance(value, External) and value.name in JIT and isinstance(outer, cst.Call):
        return outer if outer.func is wrapper else None
    return None
