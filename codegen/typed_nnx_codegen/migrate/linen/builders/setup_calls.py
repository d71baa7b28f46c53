"""Finds what `setup` calls to build submodules: methods of the class, functions of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectFunction
from typed_nnx_codegen.migrate.linen.builders.finding import (
    Builder,
    Function,
    builds,
    first_parameter,
)
from typed_nnx_codegen.migrate.linen.classes import LinenClass, LinenClasses, Method


@dataclass(frozen=True, eq=False)
class SetupCall:
    """A call in `setup` that builds submodules.

    Attributes:
        call: The call.
        function: What is called.
        analysis: The file that defines it.
        owner: What the function calls the module; empty for one that does not have it.
    """

    call: cst.Call
    function: Function
    analysis: Analysis
    owner: str


class SetupCalls:
    """Finds the calls.

    Args:
        classes: The modules of the project.
        builders: The functions that build submodules.
        every: All modules.
    """

    def __init__(
        self,
        classes: LinenClasses,
        builders: Mapping[cst.CSTNode, Builder],
        every: Iterable[LinenClass],
    ) -> None:
        self._classes = classes
        self._builders = builders
        self._every = list(every)
        self._building: dict[cst.FunctionDef, bool] = {}

    def of(self, cls: LinenClass) -> Iterator[SetupCall]:
        """Yield the calls in the `setup` that a class defines."""
        setup = cls.own_methods.get("setup")
        owner = first_parameter(setup.node) if setup is not None else ""
        if setup is None or not owner:
            return
        for node in descendants(setup.node.body):
            if not isinstance(node, cst.Call):
                continue
            match node.func:
                case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=called)):
                    method = cls.method(called) if name == owner else None
                    if method is not None and self._may_inline(cls, method):
                        first = first_parameter(method.node) if method.is_bound else ""
                        yield SetupCall(node, method.node, method.owner.analysis, first)
                        continue
            value = cls.analysis.values.get(node.func, UNKNOWN)
            builder = self._builders.get(getattr(value, "node", cst.Pass()))
            if isinstance(value, ProjectFunction) and builder is not None:
                yield SetupCall(node, builder.node, builder.analysis, "")

    def _may_inline(self, cls: LinenClass, method: Method) -> bool:
        """Whether a method builds submodules, and is the same one for all objects of a class."""
        if method.is_compact or method.is_property or "builtins.classmethod" in method.decorators:
            return False
        if method.name in ("setup", "__call__") or not self._builds(cls, method):
            return False
        below = [one for one in self._every if cls in one.ancestry()]
        return all(one.method(method.name) is method for one in below)

    def _builds(self, cls: LinenClass, method: Method) -> bool:
        if method.node not in self._building:
            self._building[method.node] = False  # methods that call each other
            self._building[method.node] = self._reads(cls, method)
        return self._building[method.node]

    def _reads(self, cls: LinenClass, method: Method) -> bool:
        analysis = method.owner.analysis
        if builds(method.node, analysis, self._classes):
            return True
        owner = first_parameter(method.node)
        for node in descendants(method.node.body):
            value = analysis.values.get(node, UNKNOWN)
            if isinstance(value, ProjectFunction) and value.node in self._builders:
                return True
            match node:
                case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=called)):
                    other = cls.method(called) if name == owner else None
                    if other is not None and self._builds(cls, other):
                        return True
        return False
