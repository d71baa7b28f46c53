"""Where the nodes of callers stand, and models that callers build of several modules or of a layer.

Such a model is planned as a module of its own, which builds what the expression builds, and calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted, is_name, parts_of
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Instance,
    ProjectClass,
    Value,
    options_of,
)
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import names_in
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    LinenClass,
    LinenClasses,
    Method,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.domain.code import written_with
from typed_nnx_codegen.migrate.linen.domain.names import own_names
from typed_nnx_codegen.migrate.linen.layers import find_layer

_WITHOUT_OBJECT: Final = ("classmethod", "staticmethod")
# What may run its parts never, later or several times.
_NOT_ONCE: Final = (
    cst.Lambda,
    cst.FunctionDef,
    cst.ClassDef,
    cst.IfExp,
    cst.BooleanOperation,
    cst.BaseComp,
)


def class_methods(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the methods of a class that have no object: they construct it, for callers."""
    for one in node.body.body if isinstance(node, cst.ClassDef) else ():
        if isinstance(one, cst.FunctionDef) and any(
            dotted(decorator.decorator) in _WITHOUT_OBJECT for decorator in one.decorators
        ):
            yield one


class Places:
    """The nodes of a file by what is around them.

    Args:
        tree: The file.
        classes: The definitions of the modules in it, whose code is not that of callers but for
            methods that have no object.
    """

    def __init__(self, tree: cst.Module, classes: Iterable[cst.ClassDef]) -> None:
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._order: dict[cst.CSTNode, int] = {}
        hidden = set(classes)
        waiting: list[cst.CSTNode] = [tree]
        while waiting:
            node = waiting.pop()
            self._order[node] = len(self._order)
            below = list(class_methods(node)) if node in hidden else parts_of(node)
            for child in below:
                self._parents[child] = node
            waiting += reversed(below)

    def __contains__(self, node: cst.CSTNode) -> bool:
        """Whether a node is code of callers."""
        return node in self._order

    def is_before(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether a node stands before another one in the text."""
        return self._order[node] < self._order[other]

    def order(self, node: cst.CSTNode) -> int:
        """Return the position of a node in the text."""
        return self._order[node]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the node around a node."""
        return self._parents.get(node)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, the nearest first."""
        current = self._parents.get(node)
        while current is not None:
            yield current
            current = self._parents.get(current)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the statement around a node that lines can be put above."""
        for one in (node, *self.around(node)):
            if isinstance(one, cst.BaseStatement) and hasattr(one, "leading_lines"):
                return one
        return None

    def block(self, statement: cst.CSTNode) -> cst.CSTNode | None:
        """Return the block that a statement stands in."""
        parent = self._parents.get(statement)
        return parent if isinstance(parent, (cst.IndentedBlock, cst.Module)) else None

    def function(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the function or class around a node; None at the top level."""
        for one in self.around(node):
            if isinstance(one, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
                return one
        return None

    def is_bound(self, name: cst.Name) -> bool:
        """Whether a statement binds a name where it stands."""
        below: cst.CSTNode = name
        for one in self.around(name):
            if not isinstance(one, (cst.Element, cst.Tuple, cst.List, cst.StarredElement)):
                return getattr(one, "target", None) is below
            below = one
        return False

    def runs_once(self, node: cst.CSTNode) -> bool:
        """Whether an expression runs exactly once whenever its simple statement does."""
        for one in self.around(node):
            if isinstance(one, cst.SimpleStatementLine):
                return True
            if isinstance(one, (*_NOT_ONCE, cst.BaseStatement)):
                return False
        return False


def binder_of(name: cst.Name, places: Places) -> cst.CSTNode | None:
    """Return the function whose parameter or variable a name is; None for names of the module."""
    below: cst.CSTNode = name
    for around in places.around(name):
        if isinstance(around, (cst.FunctionDef, cst.Lambda)):
            # Decorators, defaults and the name itself are code of what is around.
            is_inside = below in (around.body, around.params) and not _is_default(name, places)
            if is_inside and name.value in own_names(around):
                return around
        below = around
    return None


def _is_default(name: cst.Name, places: Places) -> bool:
    below: cst.CSTNode = name
    for around in places.around(name):
        if isinstance(around, cst.Param):
            return below is not around.name
        if isinstance(around, cst.BaseStatement):
            return False
        below = around
    return False


def is_variable(node: cst.Name, places: Places) -> bool:
    """Whether a name is read or bound, not the name of a keyword or an attribute."""
    parent = places.parent(node)
    if isinstance(parent, (cst.Arg, cst.Attribute)):
        return parent.value is node
    return True


def variables_in(root: cst.CSTNode, name: str, places: Places) -> list[cst.Name]:
    """Return where a name is read or bound below a node."""
    return [
        node
        for node in descendants(root)
        if isinstance(node, cst.Name)
        and node.value == name
        and node in places
        and is_variable(node, places)
    ]


def same_variable(
    name: str, home: cst.CSTNode | None, tree: cst.Module, places: Places
) -> list[cst.Name]:
    """Return where a variable is read or bound.

    Args:
        name: Its name.
        home: The function that binds it; None for the module.
        tree: The file.
        places: Where the nodes of the file stand.
    """
    found = variables_in(home if home is not None else tree, name, places)
    return [node for node in found if binder_of(node, places) is home]


@dataclass(frozen=True, eq=False)
class Composed:
    """A call that builds a model of several modules, or a layer.

    Attributes:
        cls: The module that it is planned as.
        modules: The expressions in it that give modules.
        within: Reads of variables and attributes in it, with the calls that made what they have.
        is_layer: Whether it is a layer.
        names: The names that are read in it.
    """

    cls: LinenClass
    modules: list[cst.CSTNode]
    within: dict[cst.BaseExpression, cst.Call]
    is_layer: bool
    names: frozenset[str]

    def is_certain(self, plan: ClassPlan) -> bool:
        """Whether its plan leaves nothing to a person: it is sized, and builds all modules."""
        is_sized = all(one.argument or one.default for one in plan.lifted)
        sites = {site.node for site in plan.sites}
        taken = {"rngs", *(one.name for one in plan.lifted)} & self.names
        is_done = is_sized and not plan.stays and not plan.marks and not taken
        return is_done and sites.issuperset(self.modules)


class ComposedModels:
    """The models in the code of callers that are built of several modules, and the layers."""

    def __init__(self, classes: LinenClasses) -> None:
        self._classes = classes
        self._places: dict[int, Places] = {}

    @cached_property
    def found(self) -> dict[cst.Call, Composed]:
        """Each by its call; those within another one, too."""
        found: dict[cst.Call, Composed] = {}
        for analysis in self._classes.analyses:
            for call in analysis.nodes.of(cst.Call):
                value = analysis.values.get(call, UNKNOWN)
                if isinstance(value, Instance) and value.origin is call:
                    one = self._read(call, value, analysis)
                    found |= {} if one is None else {call: one}
        return found

    @cached_property
    def layers(self) -> frozenset[LinenClass]:
        """What layers are planned as."""
        return frozenset(one.cls for one in self.found.values() if one.is_layer)

    def places(self, analysis: Analysis) -> Places:
        """Return where the nodes of a file stand."""
        found = self._places.get(id(analysis))
        if found is None:
            nodes = [cls.node for cls in self._classes.all_in(analysis)]
            found = self._places[id(analysis)] = Places(analysis.tree, nodes)
        return found

    def of_modules(self) -> Iterator[LinenClass]:
        """Yield what the models that hold modules are planned as; not those within another one."""
        for call, one in self.found.items():
            around = self.places(one.cls.analysis).around(call)
            if one.modules and self.found.keys().isdisjoint(around):
                yield one.cls

    def modules_in(self, call: cst.Call, analysis: Analysis) -> list[cst.CSTNode]:
        """Return the expressions in the arguments of a call that may give modules."""
        return [one for one in _evaluated_in(call) if self._gives_module(one, analysis)]

    def _read(self, call: cst.Call, made: Instance, analysis: Analysis) -> Composed | None:
        is_layer = _is_layer(made)
        called = self.class_of(made)
        if (called is None and not is_layer) or call not in self.places(analysis):
            return None
        if not is_layer and not self.modules_in(call, analysis):
            return None
        within: dict[cst.BaseExpression, cst.Call] = {}
        whole = self._whole(call, analysis, within)
        cls = as_module(whole, called, analysis)
        names = frozenset(one.value for one in names_in(whole))
        # One module in two places is built once, and parameters may not hide what is read.
        if cls is None or len({*within.values()}) < len(within):
            return None
        if any(one.name.value in names for one in cls.own_methods["__call__"].parameters()):
            return None
        return Composed(cls, self.modules_in(whole, analysis), within, is_layer, names)

    def class_of(self, made: Instance) -> LinenClass | None:
        """Return the module that an object is of; None where it is none of the project."""
        return self._classes.of(made.cls) if isinstance(made.cls, ProjectClass) else None

    def _gives_module(self, node: cst.CSTNode, analysis: Analysis) -> bool:
        return any(
            isinstance(one, Instance) and (_is_layer(one) or self.class_of(one) is not None)
            for one in options_of(analysis.values.get(node, UNKNOWN))
        )

    def _whole(
        self, call: cst.Call, analysis: Analysis, within: dict[cst.BaseExpression, cst.Call]
    ) -> cst.Call:
        """Return a call with the modules that variables have in their places."""
        found: dict[cst.CSTNode, cst.BaseExpression] = {}
        for node in self.modules_in(call, analysis):
            value = analysis.values.get(node)
            if not isinstance(node, cst.Name | cst.Attribute) or not isinstance(value, Instance):
                continue
            if value.origin is not None and self._is_constant(node, value.origin, analysis):
                within[node] = value.origin
                found[node] = self._whole(value.origin, analysis, within)
        return written_with(call, found) if found else call

    def _is_constant(
        self, node: cst.Name | cst.Attribute, made: cst.Call, analysis: Analysis
    ) -> bool:
        """Whether a variable has what one call made, which could be called where it is read."""
        places = self.places(analysis)
        home = places.function(node)
        if made not in places or places.function(made) is not home:
            return False
        read = [one for one in descendants(made) if isinstance(one, cst.Name)]
        if isinstance(node, cst.Name):
            read.append(node)
        else:
            targets = analysis.nodes.of(cst.AssignTarget)
            if sum(dotted(one.target) == dotted(node) for one in targets) != 1:
                return False
        return all(
            sum(map(places.is_bound, same_variable(one.value, home, analysis.tree, places))) < 2
            for one in read
        )


def _is_layer(made: Value) -> bool:
    if not isinstance(made, Instance) or not isinstance(made.cls, str):
        return False
    return find_layer(public_linen(made.cls)) is not None


# The sizes that helpers take from the arguments of a function without a signature.
_OF_FIRST: Final = frozenset({"in_features", "in_shape"})


def as_module(call: cst.Call, called: LinenClass | None, analysis: Analysis) -> LinenClass | None:
    """Return a module that builds what an expression builds, and calls it.

    Args:
        call: The expression.
        called: The module whose object it gives; None for a layer.
        analysis: The file.

    Returns:
        The module; None where it cannot be called so.
    """
    found = called.method("__call__") if called is not None else None
    if called is not None and found is None:
        return None
    given = found.node.params if found is not None else _ONE_INPUT
    params = given.with_changes(star_arg=cst.MaybeSentinel.DEFAULT, star_kwarg=None)
    positional = [*params.posonly_params, *params.params][1:]
    args = [cst.Arg(cst.Name(one.name.value)) for one in positional]
    args += [
        cst.Arg(cst.Name(one.name.value), cst.Name(one.name.value)) for one in params.kwonly_params
    ]
    returned = cst.SimpleStatementLine([cst.Return(cst.Call(call, args))])
    method = cst.FunctionDef(cst.Name("__call__"), params, cst.IndentedBlock([returned]))
    node = cst.ClassDef(cst.Name(dotted(call.func).rpartition(".")[2]), cst.IndentedBlock([method]))
    cls = LinenClass(node.name.value, node, analysis)
    cls.own_methods["__call__"] = Method("__call__", method, cls, (f"{LINEN}.compact",))
    return cls


_ONE_INPUT: Final = cst.Parameters([cst.Param(cst.Name("self")), cst.Param(cst.Name("inputs"))])


def waits_for_first(plan: ClassPlan) -> bool:
    """Whether the first argument of a call tells all sizes that a model waits for."""
    return all(one.name in _OF_FIRST for one in plan.lifted)


def _evaluated_in(call: cst.Call) -> Iterator[cst.CSTNode]:
    """Yield the nodes in the arguments of a call that are evaluated with it."""
    waiting: list[cst.CSTNode] = list(call.args)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, cst.Lambda):
            waiting += parts_of(node)


def expression_of(constructor: cst.FunctionDef) -> cst.BaseExpression | None:
    """Return the model that a constructor builds last, with all that it is built of in its place.

    Args:
        constructor: The constructor of a module that `as_module` returned.

    Returns:
        The expression; None where one does not do.
    """
    values: dict[str, cst.BaseExpression] = {}
    last = ""
    for statement in constructor.body.body:
        match statement:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[
                            cst.AssignTarget(
                                target=cst.Attribute(
                                    value=cst.Name(value="self"), attr=cst.Name(value=last)
                                )
                            )
                        ],
                        value=value,
                    )
                ]
            ):
                parts = _attributes(value, values)
                values[last] = written_with(
                    value,
                    {node: values.pop(name) for node, name in parts.items() if name in values},
                )
            case _:
                return None
    # What is read twice, or never, has no place in the expression.
    is_whole = values.keys() == {last} and not _names_self(values[last])
    return values[last] if is_whole else None


def _attributes(node: cst.CSTNode, known: Mapping[str, object]) -> dict[cst.CSTNode, str]:
    return {
        below: below.attr.value
        for below in descendants(node)
        if isinstance(below, cst.Attribute)
        and is_name(below.value, "self")
        and below.attr.value in known
    }


def _names_self(node: cst.CSTNode) -> bool:
    return any(is_name(below, "self") for below in descendants(node))
