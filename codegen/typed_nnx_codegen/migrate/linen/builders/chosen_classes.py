"""Classes that a condition or a function chooses: each call is a choice of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, is_name
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    ProjectClass,
    ProjectFunction,
    Value,
)
from typed_nnx_codegen.migrate.linen.builders.finding import (
    Edits,
    first_parameter,
    is_same_name,
    rewritten,
)
from typed_nnx_codegen.migrate.linen.builders.inlining import (
    NotInlined,
    arguments_of,
    as_expression,
    raises,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, LinenClasses, public_linen
from typed_nnx_codegen.migrate.linen.domain.names import bound_in
from typed_nnx_codegen.migrate.linen.layers import find_layer

# A table with more classes is not written as a choice.
_MOST_ITEMS: Final = 8


@dataclass(frozen=True)
class Returned:
    """What a call of such a function is.

    Attributes:
        expression: The class, as an expression where the function is called.
        values: What names and attributes in it stand for, by their code.
    """

    expression: cst.BaseExpression
    values: Mapping[str, Value] = field(default_factory=dict)


def returned_class(
    call: cst.Call,
    cls: LinenClass,
    owner: str,
    every: Iterable[LinenClass],
    home_of: Mapping[cst.CSTNode, Analysis],
) -> Returned | None:
    """Return what a call of a function of the project gives; None where it cannot be written.

    Args:
        call: The call.
        cls: The module in whose method it is.
        owner: The name of the object in the method.
        every: The modules of the project.
        home_of: The files that define functions.
    """
    found = _function(call.func, cls, owner, every)
    if found is None or not all(_is_plain(one.value) for one in call.args):
        return None
    function, given = found
    home = home_of.get(function)
    if home is None:
        return None
    first = first_parameter(function) if given is not None else ""
    try:
        expression = as_expression(function, arguments_of(function, call, first, given))
    except NotInlined:
        return None
    names = {one.value for one in descendants(function.body) if isinstance(one, cst.Name)}
    read = {
        one.value for one in (expression, *descendants(expression)) if isinstance(one, cst.Name)
    }
    if not all(
        is_same_name(name, home, cls.analysis) for name in names & read if _is_of_file(name, home)
    ):
        return None
    return Returned(expression, _values_in(function, home))


def _function(
    node: cst.BaseExpression, cls: LinenClass, owner: str, every: Iterable[LinenClass]
) -> tuple[cst.FunctionDef, cst.BaseExpression | None] | None:
    """Return the function that is called, and the object where it is a method of it."""
    match node:
        case cst.Attribute(value=cst.Name(value=name) as given, attr=attr) if name == owner:
            method = cls.methods().get(attr.value)
            derived = (one for one in every if one is not cls and cls in one.ancestry())
            is_other = any(attr.value in one.own_methods for one in derived)
            if method is None or is_other or not method.is_bound or method.decorators:
                return None
            return method.node, given
    value = cls.analysis.values.get(node, UNKNOWN)
    if isinstance(value, ProjectFunction) and isinstance(value.node, cst.FunctionDef):
        return (value.node, None) if not value.node.decorators else None
    return None


def _is_of_file(name: str, home: Analysis) -> bool:
    return name in home.scope.imports or name in home.scope.seen


def _values_in(function: cst.FunctionDef, home: Analysis) -> dict[str, Value]:
    nodes = (one for one in descendants(function.body) if isinstance(one, cst.Name | cst.Attribute))
    return {code_of(one): home.values[one] for one in nodes if one in home.values}


def _is_plain(node: cst.BaseExpression) -> bool:
    """Whether an argument may be written several times."""
    return not any(
        isinstance(one, cst.Call | cst.NamedExpr | cst.Await | cst.Yield)
        for one in (node, *descendants(node))
    )


@dataclass(frozen=True)
class _Option:
    """A class that a name may have.

    Attributes:
        test: When it has it; None for all other cases.
        value: The expression of the class.
    """

    test: cst.BaseExpression | None
    value: cst.BaseExpression


def with_chosen_classes(analyses: Mapping[Path, Analysis]) -> dict[Path, cst.Module]:
    """Return the files that change when calls of such names say which class is constructed.

    Args:
        analyses: The files that are migrated.
    """
    classes = LinenClasses(analyses.values())
    homes: dict[cst.CSTNode, Analysis] = {
        node: one for one in analyses.values() for node in one.nodes.of(cst.FunctionDef)
    }
    found: dict[Path, cst.Module] = {}
    for path, analysis in analyses.items():
        edits = Edits()
        for cls in classes.all_in(analysis):
            for method in cls.own_methods.values():
                found_in = _Method(method.node, cls, classes, homes)
                edits.expressions.update(found_in.calls())
                edits.dropped |= set(found_in.leftovers(edits))
        if not edits.is_empty:
            found[path] = rewritten(analysis.tree, edits)
    return found


class _Method:
    """A method that may choose classes.

    Args:
        node: The method.
        cls: The module.
        classes: The modules of the project.
        homes: The files that define functions.
    """

    def __init__(
        self,
        node: cst.FunctionDef,
        cls: LinenClass,
        classes: LinenClasses,
        homes: Mapping[cst.CSTNode, Analysis],
    ) -> None:
        self._node = node
        self._cls = cls
        self._homes = homes
        # What stands in functions that return classes.
        self._returned: dict[str, Value] = {}
        self._analysis = cls.analysis
        self._classes = classes
        self._bound: dict[str, int] = {}
        for name in bound_in(node):
            self._bound[name] = self._bound.get(name, 0) + 1

    def calls(self) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
        """Yield the calls of such names, and what they are written as."""
        if not isinstance(self._node.body, cst.IndentedBlock):
            return
        chosen = dict(self._chosen())
        nodes = list(descendants(self._node.body))
        called = {node.func: node for node in nodes if isinstance(node, cst.Call)}
        for node in nodes:
            if not isinstance(node, cst.Call):
                continue
            options = self._called(node, chosen)
            if not options or any(map(self._builds, _below(node.args))):
                continue
            outer = called.get(node)
            calls = [node]
            if outer is not None and not any(map(self._builds, _below(outer.args))):
                calls.append(outer)
            try:
                yield calls[-1], _choice(options, calls)
            except NotInlined:
                continue

    def _called(self, node: cst.Call, chosen: Mapping[str, list[_Option]]) -> list[_Option] | None:
        """Return the classes that a call may be of; None where it is of something else."""
        match node.func:
            case cst.Name(value=name):
                return chosen.get(name)
            case cst.Call() as maker:
                options = list(self._options(maker))
                return options if len(options) > 1 and self._are_known(options) else None
            case cst.Subscript() as item:
                options = list(self._of_expression(item))
                return options if len(options) > 1 and self._are_known(options) else None
        return None

    def _options(self, node: cst.BaseExpression) -> Iterator[_Option]:
        """Yield the classes that an expression may be, which a function may return."""
        if isinstance(node, cst.Call):
            owner = first_parameter(self._node)
            every = (cls for one in self._classes.analyses for cls in self._classes.all_in(one))
            returned = returned_class(node, self._cls, owner, every, self._homes)
            if returned is not None:
                self._returned.update(returned.values)
                node = returned.expression
        yield from self._of_expression(node)

    def _of_expression(self, node: cst.BaseExpression) -> Iterator[_Option]:
        """Yield what an expression may be: a choice, or an item of a table."""
        match node:
            case cst.IfExp(test=test, body=body, orelse=orelse):
                yield _Option(test, body)
                yield from self._of_expression(orelse)
            case cst.Subscript(
                value=cst.Dict() | cst.Name() as named,
                slice=[cst.SubscriptElement(slice=cst.Index(value=key))],
            ):
                elements = self._table(named)
                if not elements or not _is_plain(key):
                    yield _Option(None, node)
                    return
                for one in elements[:-1]:
                    yield _Option(_equal(key, one.key), one.value)
                yield _Option(None, elements[-1].value)
            case _:
                yield _Option(None, node)

    def _table(self, node: cst.Dict | cst.Name) -> list[cst.DictElement]:
        """Return the items of a dict, which a name of the file may hold; none where it may change."""
        if isinstance(node, cst.Name):
            found = None if node.value in self._bound else _constant(node.value, self._analysis)
            if not isinstance(found, cst.Dict):
                return []
            node = found
            if any(
                one.value in self._bound for one in descendants(node) if isinstance(one, cst.Name)
            ):
                return []  # a name in it means something else in the method
        found_items = [one for one in node.elements if isinstance(one, cst.DictElement)]
        is_known = len(found_items) == len(node.elements) <= _MOST_ITEMS
        plain = all(
            isinstance(one.key, cst.SimpleString | cst.Integer | cst.Attribute | cst.Name)
            for one in found_items
        )
        return found_items if is_known and plain else []

    def _value(self, node: cst.BaseExpression) -> Value:
        """Return what an expression stands for, here or where a function returns it."""
        found = self._analysis.values.get(node)
        is_here = found is not None or not isinstance(node, cst.Name | cst.Attribute)
        return (found or UNKNOWN) if is_here else self._returned.get(code_of(node), UNKNOWN)

    def leftovers(self, edits: Edits) -> Iterator[cst.CSTNode]:
        """Yield the statements that bind names which nothing reads any more."""
        written = edits.calls_written()
        targets: dict[str, list[cst.BaseStatement]] = {}
        read: set[str] = set()
        bound: set[cst.CSTNode] = set()
        for node in descendants(self._node):
            match node:
                case cst.SimpleStatementLine(
                    body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)])]
                ):
                    targets.setdefault(name.value, []).append(node)
                    bound.add(name)
        for node in descendants(self._node):
            if isinstance(node, cst.Name) and node not in written and node not in bound:
                read.add(node.value)
        gone = {one.value for one in written if isinstance(one, cst.Name)}
        chosen = {name for name, _ in self._chosen()} & gone - read
        dropped = {one for name in chosen for one in targets.get(name, ())}
        yield from dropped
        for node in descendants(self._node):
            if isinstance(node, cst.If) and all(
                set(body) <= dropped for _, body in _branches(node)
            ):
                yield node

    def _chosen(self) -> Iterator[tuple[str, list[_Option]]]:
        """Yield the names that have one of several classes, with these."""
        first: dict[str, cst.BaseExpression] = {}
        for statement in self._node.body.body:
            match statement:
                case cst.SimpleStatementLine(
                    body=[
                        cst.Assign(
                            targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value
                        )
                    ]
                ):
                    first[name] = value
                    options = list(self._options(value))
                    if len(options) > 1 and self._bound.get(name) == 1 and self._are_known(options):
                        yield name, options
                case cst.If():
                    yield from self._of_statement(statement, first)

    def _of_statement(
        self, node: cst.If, first: Mapping[str, cst.BaseExpression]
    ) -> Iterator[tuple[str, list[_Option]]]:
        branches = list(_branches(node))
        is_whole = branches[-1][0] is None
        names = {name for _, body in branches for name, _ in _assigned(body)}
        for name in sorted(names):
            options: list[_Option] = []
            count = 0
            is_known = True
            for test, body in branches:
                values = [value for one, value in _assigned(body) if one == name]
                count += len(values)
                if len(values) == 1:
                    options.append(_Option(test, values[0]))
                elif not raises(body):
                    is_known = False
            if not is_whole and name in first:
                options.append(_Option(None, first[name]))
                count += 1
            elif not is_whole:
                is_known = False
            is_known = is_known and self._bound.get(name) == count and len(options) > 1
            if is_known and self._are_known(options):
                yield name, options

    def _are_known(self, options: Sequence[_Option]) -> bool:
        """Whether options build modules, and mean later what they mean where they are chosen."""
        if not any(self._may_build(one.value) for one in options):
            return False
        are_built = all(
            isinstance(one.value, cst.Lambda) or self._is_class(one.value) for one in options
        )
        return all(
            (are_built or self._is_callable(one.value))
            and self._is_constant(one.value)
            and (one.test is None or self._is_constant(one.test))
            for one in options
        )

    def _may_build(self, node: cst.BaseExpression) -> bool:
        if not isinstance(node, cst.Lambda):
            return self._is_class(node)
        return any(map(self._builds, descendants(node.body))) or self._builds(node.body)

    def _is_callable(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a function, which is called at once."""
        if isinstance(node, cst.Lambda):
            return True
        value = self._value(node)
        return isinstance(value, External | ProjectFunction) and not self._is_class(node)

    def _is_class(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Call):
            value = self._value(node.func)
            is_partial = isinstance(value, External) and value.name == "functools.partial"
            return is_partial and bool(node.args) and self._is_class(node.args[0].value)
        value = self._value(node)
        if isinstance(value, External):
            return find_layer(public_linen(value.name)) is not None
        return isinstance(value, ProjectClass) and self._classes.of(value) is not None

    def _builds(self, node: cst.CSTNode) -> bool:
        """Whether a call constructs a module, which may only be written once."""
        return isinstance(node, cst.Call) and (
            self._is_class(node.func) or isinstance(node.func, cst.Call)
        )

    def _is_rebound(self, name: str, own: set[str]) -> bool:
        """Whether a name that is no parameter of a lambda is bound more than once."""
        return name not in own and self._bound.get(name, 0) > 1

    def _is_constant(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is the same wherever it stands in the method."""
        own: set[str] = set()
        if isinstance(node, cst.Lambda):
            own = {one.name.value for one in descendants(node) if isinstance(one, cst.Param)}
        for below in (node, *descendants(node)):
            if isinstance(below, cst.Name) and self._is_rebound(below.value, own):
                return False
            if isinstance(below, cst.NamedExpr | cst.Await | cst.Yield):
                return False
        return True


def _constant(name: str, analysis: Analysis) -> cst.BaseExpression | None:
    """Return what a file binds to a name, where it does no more with it than reading items."""
    values: list[cst.BaseExpression | None] = []
    for node in analysis.nodes.of_any(cst.Assign, cst.AnnAssign):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))]):
                values += [node.value] if target == name else []
            case cst.AnnAssign(target=cst.Name(value=target)):
                values += [node.value] if target == name else []
    reads = sum(is_name(one.value, name) for one in analysis.nodes.of(cst.Subscript))
    written = any(
        isinstance(below, cst.Subscript) and is_name(below.value, name)
        for node in analysis.nodes.of_any(cst.AssignTarget, cst.Del, cst.AugAssign)
        for below in descendants(node)
    )
    uses = sum(one.value == name for one in analysis.nodes.of(cst.Name))
    return values[0] if len(values) == 1 and uses == reads + 1 and not written else None


def _equal(one: cst.BaseExpression, other: cst.BaseExpression) -> cst.Comparison:
    return cst.Comparison(one.deep_clone(), [cst.ComparisonTarget(cst.Equal(), other.deep_clone())])


def _branches(
    node: cst.If,
) -> Iterator[tuple[cst.BaseExpression | None, Sequence[cst.CSTNode]]]:
    yield node.test, node.body.body
    match node.orelse:
        case cst.If() as inner:
            yield from _branches(inner)
        case cst.Else(body=body):
            yield None, body.body


def _assigned(body: Sequence[cst.CSTNode]) -> Iterator[tuple[str, cst.BaseExpression]]:
    for statement in body:
        match statement:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)
                ]
            ):
                yield name, value


def _below(args: Sequence[cst.Arg]) -> Iterator[cst.CSTNode]:
    for arg in args:
        yield arg.value
        yield from descendants(arg.value)


def _choice(options: Sequence[_Option], calls: Sequence[cst.Call]) -> cst.BaseExpression:
    """Return the call of one of some classes, and the call of what that constructs.

    Raises:
        NotInlined: One of them is a function whose value is no expression of its arguments.
    """
    first, *others = options
    made: cst.BaseExpression = first.value
    for call in calls:
        if isinstance(made, cst.Lambda):
            made = as_expression(made, arguments_of(made, call))
        else:
            made = call.with_changes(func=made)
    if not others or first.test is None:
        return made.deep_clone()
    return cst.IfExp(
        test=first.test.deep_clone(),
        body=made.deep_clone(),
        orelse=_choice(others, calls),
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )
