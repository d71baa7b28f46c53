"""How each construction of a module outside of modules is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import (
    NoSizes,
    Sizes,
    is_pure,
    parameters_for,
    sizes_for,
)
from typed_nnx_codegen.migrate.linen.callers.constructions import Construction, Constructions, Use
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Lifted
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize
from typed_nnx_codegen.migrate.linen.domain.values import Array, Value

INITS = frozenset({"init", "init_with_output"})


@dataclass(frozen=True)
class Live:
    """It is constructed where Linen made its variables.

    Attributes:
        name: The variable or attribute that holds the model.
        statement: The statement that assigned it.
        init: The use that made its variables.
    """

    name: str
    statement: cst.SimpleStatementLine
    init: Use


@dataclass(frozen=True)
class Deferred:
    """What constructs it stands where the Linen module stood.

    Attributes:
        preset: The sizes that are known there; None where each use gives its own.
    """

    preset: Sizes | None


@dataclass(frozen=True)
class Inline:
    """It is used where it is constructed."""

    use: Use


@dataclass(frozen=True)
class InField:
    """It is given for a field of another one."""


Kind = Live | Deferred | Inline | InField


class Kinds:
    """Decides how constructions are written.

    Args:
        constructions: What callers do.
        plan_of: Gives the plan of a module.
    """

    def __init__(
        self, constructions: Constructions, plan_of: Callable[[LinenClass], ClassPlan]
    ) -> None:
        self._constructions = constructions
        self._plan_of = plan_of
        self._kinds: dict[Construction, Kind] = {}
        for one in constructions.every.values():
            self._kinds[one] = self._decide(one)
        self._agree()

    def of(self, one: Construction) -> Kind:
        """Return how a construction is written."""
        return self._kinds[one]

    def of_use(self, use: Use) -> Kind:
        """Return how the object of a use is written."""
        for one in use.constructions:
            return self._kinds[one]
        return Deferred(None)

    def _agree(self) -> None:
        """Let the objects that one use may be of be written alike."""
        changed = True
        while changed:
            changed = False
            for use in self._constructions.uses.values():
                kinds = [self._kinds[one] for one in use.constructions]
                if len(set(map(_group, kinds))) > 1:
                    for one in use.constructions:
                        if self._kinds[one] != Deferred(None):
                            self._kinds[one] = Deferred(None)
                            changed = True

    def _decide(self, one: Construction) -> Kind:
        if one.owner is not None:
            return InField()
        for use in one.uses:
            if use.node.value is one.node:
                return Inline(use)
        if one.is_mixed:
            return Deferred(None)
        live = self._live(one)
        if live is not None:
            return live
        return Deferred(self._preset(one))

    # -- constructed where the variables are made ------------------------------------------------

    def _live(self, one: Construction) -> Live | None:
        places = self._constructions.places(one.analysis)
        statement = places.statement(one.node)
        name = _assigned(statement, one.node)
        inits = [use for use in one.uses if use.name in INITS]
        if not name or not inits or any(use.analysis is not one.analysis for use in inits):
            return None
        assert isinstance(statement, cst.SimpleStatementLine)
        init = min(inits, key=lambda use: places.order(use.node))
        if init.call is None or code_of(init.node.value) != name:
            return None
        if not places.runs_once(init.node) or not self._are_repeatable(one, inits[1:]):
            return None
        target = places.statement(init.node)
        if target is None or places.block(target) is not places.block(statement):
            return None
        if not places.is_before(statement, target) or places.block(statement) is None:
            return None
        if self._is_used_between(name, statement, target, one):
            return None
        return Live(name, statement, init)

    def _are_repeatable(self, one: Construction, inits: list[Use]) -> bool:
        """Whether the model can be constructed once more where its variables are made again."""
        places = self._constructions.places(one.analysis)
        home = places.function(one.node)
        return not inits or (
            all(is_pure(arg.value, one.analysis) for arg in one.node.args)
            and all(places.function(use.node) is home for use in inits)
        )

    def _is_used_between(
        self, name: str, first: cst.SimpleStatementLine, last: cst.CSTNode, one: Construction
    ) -> bool:
        """Whether the model, or what it is constructed with, is touched before its variables are made."""
        places = self._constructions.places(one.analysis)
        block = places.block(first)
        assert isinstance(block, (cst.IndentedBlock, cst.Module))
        body: list[cst.CSTNode] = list(block.body)
        between = body[body.index(first) + 1 : body.index(last)]
        given = {below.value for below in descendants(one.node) if isinstance(below, cst.Name)}
        for statement in between:
            # Functions run later, when the model is there.
            is_later = isinstance(statement, (cst.FunctionDef, cst.ClassDef))
            for below in descendants(statement):
                is_name = isinstance(below, (cst.Name, cst.Attribute))
                if is_name and dotted(below) == name and not is_later:
                    return True
                if not is_later and given & _bound_names(below):
                    return True
        return False

    # -- sizes that the inputs spell -------------------------------------------------------------

    def _preset(self, one: Construction) -> Sizes | None:
        plan = self._plan_of(one.cls)
        if not plan.lifted:
            return Sizes(())
        found: set[Sizes] = set()
        for use in one.uses:
            if use.name not in INITS or use.call is None:
                continue
            try:
                method, args = call_parts(use.call, use.analysis, 1)
                sizes = sizes_for(plan, method, args, use.analysis, code_of)
            except NoSizes:
                return None
            if not sizes.is_literal:
                return None
            found.add(Sizes(sizes.items))
        return found.pop() if len(found) == 1 else None


def _bound_names(node: cst.CSTNode) -> set[str]:
    """Return the names that a node binds or changes, those below it apart."""
    target: cst.CSTNode | None = None
    match node:
        case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.NamedExpr():
            target = node.target
        case cst.AsName():
            target = node.name
        case cst.Del():
            target = node.target
    if target is None:
        return set()
    return {below.value for below in descendants(target) if isinstance(below, cst.Name)}


def _group(kind: Kind) -> object:
    if isinstance(kind, Live):
        return "live"
    if isinstance(kind, Deferred):
        return "deferred", kind.preset is not None
    return type(kind)


def _assigned(statement: cst.CSTNode | None, node: cst.Call) -> str:
    """Return the variable that a statement assigns a call to; empty where it does something else."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)]
        ) if value is node:
            return dotted(target)
        case cst.SimpleStatementLine(body=[cst.AnnAssign(target=target, value=value)]) if (
            value is node
        ):
            return dotted(target)
    return ""


def call_parts(call: cst.Call, analysis: object, skip: int) -> tuple[str, list[cst.Arg]]:
    """Return the method that `init` or `apply` calls, and the arguments that it passes on.

    Args:
        call: The call.
        analysis: The file.
        skip: How many of the first arguments it keeps for itself.

    Raises:
        NoSizes: It is not known which method that is.
    """
    del analysis
    method = "__call__"
    args: list[cst.Arg] = []
    for number, arg in enumerate(call.args):
        keyword = arg.keyword.value if arg.keyword is not None else ""
        if keyword == "method":
            method = method_name(arg.value)
        elif keyword in ("rngs", "variables", "mutable", "capture_intermediates"):
            continue
        elif keyword or arg.star or number >= skip:
            args.append(arg)
    return method, args


def method_name(node: cst.BaseExpression) -> str:
    """Return the method that an expression names.

    Raises:
        NoSizes: It is computed.
    """
    match node:
        case cst.SimpleString():
            return str(node.evaluated_value)
        case cst.Attribute(attr=cst.Name(value=name)):
            return name
        case cst.Name(value="None"):
            return "__call__"
        case cst.Lambda(
            params=cst.Parameters(
                params=[cst.Param(name=cst.Name(value=model)), *params],
                star_arg=cst.MaybeSentinel.DEFAULT,
                kwonly_params=[],
                star_kwarg=None,
                posonly_params=[],
            ),
            body=cst.Call(
                func=cst.Attribute(value=cst.Name(value=receiver), attr=cst.Name(value=name)),
                args=args,
            ),
        ) if receiver == model:
            # `lambda model, z: model.generate(z)`
            passed = [dotted(one.value) for one in args if one.keyword is None and not one.star]
            if len(passed) == len(args) and passed == [one.name.value for one in params]:
                return name
    raise NoSizes(f"which method `{code_of(node)}` is is not known")


def held_sizes(
    one: Construction,
    outer: ClassPlan,
    inner: ClassPlan,
    method: str,
    args: Sequence[cst.Arg],
    analysis: Analysis,
    render: Callable[[cst.CSTNode], str],
) -> Sizes:
    """Return the sizes of a module that is constructed for a field.

    Args:
        one: Where it is constructed.
        outer: The plan of the module that has the field.
        inner: Its own plan.
        method: The method of the outer module that is called.
        args: The arguments of that call.
        analysis: The file.
        render: Gives the new code of an expression.
    """
    items: list[tuple[str, str]] = []
    used: list[cst.BaseExpression] = []
    for lifted in inner.lifted:
        if lifted.default and not lifted.argument:
            continue
        size = size_in_field(one, lifted, outer, inner)
        if isinstance(size, int):
            items.append((lifted.name, str(size)))
            continue
        if size is None:
            return Sizes((), missing=(f"nothing tells `{lifted.name}` of `{inner.cls.name}`",))
        asked = replace(outer, lifted=[replace(size, method=method)])
        try:
            found = sizes_for(asked, method, args, analysis, render)
        except NoSizes as reason:
            return Sizes((), missing=(str(reason),))
        if found.missing:
            return found
        items += found.items
        used += found.used
    return Sizes(tuple(items), tuple(used))


def _field_of(one: Construction) -> str:
    """Return the field that a module is given for; empty where that is not sure."""
    if one.owner is None:
        return ""
    names = [each.name for each in one.owner.cls.fields()]
    for position, arg in enumerate(one.owner.node.args):
        if arg.star:
            return ""
        if arg.value is one.node:
            if arg.keyword is not None:
                return arg.keyword.value
            return names[position] if position < len(names) else ""
    return ""


def size_in_field(
    one: Construction, lifted: Lifted, outer: ClassPlan, inner: ClassPlan
) -> Lifted | int | None:
    """Return a size of a module in a field over the arguments of the module that has the field.

    Args:
        one: Where the module is constructed.
        lifted: The size.
        outer: The plan of the module that has the field.
        inner: The plan of the module in it.

    Returns:
        The size: a number, or what to ask the arguments for; None where it is not known.
    """
    field = _field_of(one)
    names = [one.name.value for one in parameters_for(inner.cls, lifted.method)]
    place = str(names.index(lifted.argument)) if lifted.argument in names else ""
    for name, called, values in outer.held_calls:
        value: Value | None = values.get(lifted.argument, values.get(place))
        if name != field or called != lifted.method or not isinstance(value, Array):
            continue
        if lifted.axis is None or lifted.is_of_items:
            return replace(lifted, argument=value.origin) if value.origin else None
        dim = value.shape.axis(lifted.axis)
        if dim is None:
            return None
        if dim.constant is not None:
            return dim.constant
        if isinstance(dim.atom, ArgumentSize):
            return replace(lifted, argument=dim.atom.argument, axis=dim.atom.axis)
        return None
    return None
