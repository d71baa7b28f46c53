"""Finds what methods call to build submodules, whose code is written there.

In `setup` that is methods of the class and functions of files; everywhere, methods of classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    ProjectClass,
    ProjectFunction,
    Value,
)
from typed_nnx_codegen.migrate.analysis.values import Method as MethodOf
from typed_nnx_codegen.migrate.linen.builders.finding import (
    Builder,
    Function,
    builds,
    first_parameter,
)
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, LinenClasses, Method
from typed_nnx_codegen.migrate.linen.names.bound_names import bound_in

_WITHOUT_OBJECT: Final = frozenset({"builtins.classmethod", "builtins.staticmethod"})


def class_method(call: cst.Call, values: Mapping[cst.CSTNode, Value]) -> ProjectFunction | None:
    """Return the class method or static method of a class that a call calls; None for others."""
    value = values.get(call.func, UNKNOWN)
    if not isinstance(value, MethodOf) or not isinstance(value.receiver, ProjectClass):
        return None
    function = value.function
    is_there = function is not None and bool(_WITHOUT_OBJECT & set(function.decorators))
    return function if is_there else None


@dataclass(frozen=True, eq=False)
class SetupCall:
    """A call that builds submodules.

    Attributes:
        call: The call.
        function: What is called.
        analysis: The file that defines it.
        owner: What the function calls the module; empty for one that does not have it.
        given: The class, where that is what the function has in place of the module.
    """

    call: cst.Call
    function: Function
    analysis: Analysis
    owner: str
    given: cst.BaseExpression | None = None


def local_function(node: cst.BaseExpression, setup: cst.FunctionDef) -> cst.FunctionDef | None:
    """Return the function that `setup` defines under a name; None where it may be another one."""
    if not isinstance(node, cst.Name) or list(bound_in(setup.body)).count(node.value) != 1:
        return None
    for one in setup.body.body:
        if isinstance(one, cst.FunctionDef) and one.name.value == node.value:
            return None if one.decorators else one
    return None


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

    def of_classes(self, method: Method) -> Iterator[SetupCall]:
        """Yield the calls in a method of class methods and static methods: `Block.of_size(3)`."""
        values = method.owner.analysis.values
        for node in descendants(method.node.body):
            if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
                continue
            found = class_method(node, values)
            home = self._classes.of(found.owner) if found is not None and found.owner else None
            if found is None or home is None or not isinstance(found.node, cst.FunctionDef):
                continue
            if builds(found.node, home.analysis, self._classes):
                is_static = "builtins.staticmethod" in found.decorators
                first = "" if is_static else first_parameter(found.node)
                given = node.func.value
                yield SetupCall(node, found.node, home.analysis, first, given)

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
            inner = local_function(node.func, setup.node)
            if inner is not None and builds(inner, cls.analysis, self._classes):
                yield SetupCall(node, inner, cls.analysis, "")
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
