"""Writes the code of a function where `setup` calls it, with expressions for its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.builders.finding import Function
from typed_nnx_codegen.migrate.linen.domain.code import KeepingNames, wrapped
from typed_nnx_codegen.migrate.linen.domain.names import bound_in, free_name

_NOTHING = object()


@dataclass
class Arguments:
    """What a call gives.

    Attributes:
        by_name: By parameter.
        rest: The arguments for ``*args``.
        keywords: The arguments for ``**kwargs``.
        star: The name of ``*args``.
        double_star: The name of ``**kwargs``.
    """

    by_name: dict[str, cst.BaseExpression] = field(default_factory=dict)
    rest: list[cst.Arg] = field(default_factory=list)
    keywords: list[cst.Arg] = field(default_factory=list)
    star: str = ""
    double_star: str = ""


class Substituting(KeepingNames):
    """Writes other expressions for names.

    Args:
        arguments: What parameters stand for.
        local: What locals stand for.
    """

    def __init__(self, arguments: Arguments, local: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._arguments = arguments
        self._values = {**arguments.by_name, **local}

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Write the arguments that the function was given beyond its parameters."""
        args: list[cst.Arg] = []
        one = self._arguments
        for before, arg in zip(original_node.args, updated_node.args, strict=True):
            name = before.value.value if isinstance(before.value, cst.Name) else ""
            if arg.star == "*" and name and name == one.star:
                args += one.rest
            elif arg.star == "**" and name and name == one.double_star:
                args += one.keywords
            else:
                args.append(arg)
        if args != list(updated_node.args):
            args = [arg.with_changes(comma=cst.MaybeSentinel.DEFAULT) for arg in args]
            return updated_node.with_changes(args=args)
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        """Decide a comparison of literals."""
        return decided(updated_node)

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.If | cst.RemovalSentinel | cst.FlattenSentinel[cst.BaseStatement]:
        """Leave out branches that are not taken."""
        truth = truth_of(updated_node.test)
        if truth is None:
            return updated_node
        orelse = updated_node.orelse
        body: list[cst.CSTNode] = []
        if truth:
            body = list(updated_node.body.body)
        elif isinstance(orelse, cst.Else):
            body = list(orelse.body.body)
        elif orelse is not None:
            body = [orelse]
        found = [one for one in body if isinstance(one, cst.BaseStatement)]
        return cst.FlattenSentinel(found) if found else cst.RemoveFromParent()

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        """Write the side that is taken."""
        truth = truth_of(updated_node.test)
        if truth is None:
            return updated_node
        return updated_node.body if truth else updated_node.orelse

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Write what a name stands for."""
        value = self._values.get(original_node.value)
        if value is None:
            return updated_node
        return value if isinstance(value, cst.Integer | cst.Float) else wrapped(value)


def truth_of(node: cst.BaseExpression) -> bool | None:
    """Return whether a literal is true; None for other expressions."""
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            truth = truth_of(inner)
            return None if truth is None else not truth
    value = _literal(node)
    return None if value is _NOTHING else bool(value)


def decided(node: cst.Comparison) -> cst.BaseExpression:
    """Return what a comparison of literals gives; the comparison where it is of other things."""
    match node:
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]
        ):
            one, other = _literal(left), _literal(right)
            if one is _NOTHING or other is _NOTHING:
                return node
            if isinstance(operator, cst.Equal | cst.Is):
                return cst.Name(str(one == other))
            if isinstance(operator, cst.NotEqual | cst.IsNot):
                return cst.Name(str(one != other))
            if isinstance(operator, cst.In | cst.NotIn) and isinstance(other, tuple | list):
                return cst.Name(str((one in other) == isinstance(operator, cst.In)))
    return node


def _literal(node: cst.BaseExpression) -> object:
    try:
        value: object = ast.literal_eval(code_of(node).strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _NOTHING
    return value


Statement = cst.BaseStatement
_ENDS = (cst.Return, cst.Raise)
_FOREIGN = (cst.Import, cst.ImportFrom, cst.With, cst.Global, cst.Nonlocal)


class NotInlined(Exception):
    """The code of a function cannot be written where it is called."""


def arguments_of(
    function: Function, call: cst.Call, owner: str = "", given: cst.BaseExpression | None = None
) -> Arguments:
    """Return what a call gives a function, with its defaults.

    Args:
        function: The function.
        call: The call.
        owner: The parameter that is the module, or its class; empty where there is none.
        given: The module or class where it is called.

    Raises:
        NotInlined: It is not known which argument is for which parameter.
    """
    params = function.params
    positional = [*params.posonly_params, *params.params]
    found = Arguments()
    if isinstance(params.star_arg, cst.Param):
        found.star = params.star_arg.name.value
    if params.star_kwarg is not None:
        found.double_star = params.star_kwarg.name.value
    if owner and given is not None:
        found.by_name[owner] = given
        positional = positional[1:]
    names = [one.name.value for one in positional]
    known = {*names, *(one.name.value for one in params.kwonly_params)}
    position = 0
    for arg in call.args:
        if arg.star:
            raise NotInlined
        if arg.keyword is not None and arg.keyword.value in known:
            found.by_name[arg.keyword.value] = arg.value
        elif arg.keyword is not None and found.double_star:
            found.keywords.append(arg)
        elif arg.keyword is None and position < len(names):
            found.by_name[names[position]] = arg.value
            position += 1
        elif arg.keyword is None and found.star:
            found.rest.append(arg)
        else:
            raise NotInlined
    for one in (*positional, *params.kwonly_params):
        if one.name.value not in found.by_name:
            if one.default is None:
                raise NotInlined
            found.by_name[one.name.value] = one.default
    return found


def as_expression(function: Function, arguments: Arguments) -> cst.BaseExpression:
    """Return the value of a call as one expression.

    Raises:
        NotInlined: The function does more than that.
    """
    if isinstance(function, cst.Lambda):
        return _substituted(function.body, arguments, {})
    if not isinstance(function.body, cst.IndentedBlock):
        raise NotInlined
    _check_rebound(function, arguments)
    return _value_of(list(_without_docstring(function)), arguments, {})


def _value_of(
    statements: Sequence[cst.BaseStatement],
    arguments: Arguments,
    local: dict[str, cst.BaseExpression],
) -> cst.BaseExpression:
    for position, statement in enumerate(statements):
        rest = statements[position + 1 :]
        match statement:
            case cst.SimpleStatementLine(body=[cst.Return(value=value)]) if value is not None:
                return _substituted(value, arguments, local)
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)
                ]
            ) if name not in local and name not in arguments.by_name:
                local = {**local, name: _substituted(value, arguments, local)}
            case cst.If():
                return _of_branches(statement, rest, arguments, local)
            case _:
                raise NotInlined
    raise NotInlined


def _of_branches(
    node: cst.If,
    rest: Sequence[cst.BaseStatement],
    arguments: Arguments,
    local: dict[str, cst.BaseExpression],
) -> cst.BaseExpression:
    test = _substituted(node.test, arguments, local)
    truth = truth_of(test)
    other = [*_orelse(node), *rest]
    first = list(_statements(node.body.body))
    if truth is True and not _ends(first):
        return _value_of([*first, *rest], arguments, local)
    if truth is not None and (not truth or _ends(first)):
        return _value_of(first if truth else other, arguments, local)
    if not _ends(first):
        raise NotInlined
    if _only_raises(first):
        return _value_of(other, arguments, local)
    if not other:
        raise NotInlined
    if _only_raises(other):
        return _value_of(first, arguments, local)
    return cst.IfExp(
        test=test,
        body=_value_of(first, arguments, local),
        orelse=_value_of(other, arguments, local),
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )


def as_statements(
    function: cst.FunctionDef,
    arguments: Arguments,
    finish: cst.BaseSmallStatement,
    taken: set[str],
) -> list[cst.BaseStatement]:
    """Return the body of a function in place of the statement that calls it.

    Args:
        function: The function.
        arguments: What it is given.
        finish: The statement, in which `__value__` stands for what is returned.
        taken: The names that the method around binds; those of the function are added.

    Raises:
        NotInlined: It returns from within a loop, or the like.
    """
    if not isinstance(function.body, cst.IndentedBlock):
        raise NotInlined
    bound = set(bound_in(function)) - set(arguments.by_name) - {function.name.value}
    bound -= {arguments.star, arguments.double_star}
    rebound = _rebound(function)
    statements: list[cst.BaseStatement] = []
    by_name: dict[str, cst.BaseExpression] = {}
    renamed: dict[str, cst.BaseExpression] = {}
    for name in sorted(bound):
        renamed[name] = cst.Name(free_name(name, taken))
    body = _without_docstring(function)
    for name, value in arguments.by_name.items():
        if name in rebound or not _is_simple(value):
            local = cst.Name(free_name(name, taken))
            target = cst.AssignTarget(local)
            statements.append(cst.SimpleStatementLine([cst.Assign([target], value)]))
            by_name[name] = local
        else:
            by_name[name] = value
    inner = Arguments(
        {**by_name, **renamed},
        arguments.rest,
        arguments.keywords,
        arguments.star,
        arguments.double_star,
    )
    return [*statements, *_finished(body, inner, finish)]


def _finished(
    statements: Sequence[cst.BaseStatement], arguments: Arguments, finish: cst.BaseSmallStatement
) -> list[cst.BaseStatement]:
    found: list[cst.BaseStatement] = []
    for position, statement in enumerate(statements):
        rest = list(statements[position + 1 :])
        match statement:
            case cst.SimpleStatementLine(body=[cst.Return(value=value)]):
                if value is None and isinstance(finish, cst.Expr):
                    return found
                returned = cst.Name("None") if value is None else value
                after = _substituted(returned, arguments, {})
                line = finish.visit(Substituting(Arguments({"__value__": after}), {}))
                assert isinstance(line, cst.BaseSmallStatement)
                found.append(cst.SimpleStatementLine([line]))
                return found
            case cst.If() if _returns(statement):
                found += _finished_branches(statement, rest, arguments, finish)
                return found
        if _returns(statement):
            raise NotInlined
        block = cst.IndentedBlock([statement]).visit(Substituting(arguments, {}))
        assert isinstance(block, cst.IndentedBlock)
        _check_stars(block, arguments)
        found += _statements(block.body)
    if not raises(statements) and not isinstance(finish, cst.Expr):
        raise NotInlined
    return found


def _finished_branches(
    node: cst.If,
    rest: list[cst.BaseStatement],
    arguments: Arguments,
    finish: cst.BaseSmallStatement,
) -> list[cst.BaseStatement]:
    first = list(_statements(node.body.body))
    other = _orelse(node)
    if rest and not _ends(first):
        first = [*first, *rest]
    if rest and not _ends(other):
        other = [*other, *rest]
    test = _substituted(node.test, arguments, {})
    truth = truth_of(test)
    if truth is not None:
        return _finished(first if truth else other or rest, arguments, finish)
    orelse: cst.If | cst.Else | None = None
    written = _finished(other, arguments, finish) if other else []
    if len(written) == 1 and isinstance(written[0], cst.If):
        orelse = written[0].with_changes(leading_lines=())
    elif written:
        orelse = cst.Else(cst.IndentedBlock(written))
    elif not isinstance(finish, cst.Expr):
        raise NotInlined
    taken = cst.IndentedBlock(_finished(first, arguments, finish))
    return [node.with_changes(test=test, body=taken, orelse=orelse)]


def _substituted(
    node: cst.BaseExpression, arguments: Arguments, local: Mapping[str, cst.BaseExpression]
) -> cst.BaseExpression:
    inner = {
        one.name.value
        for below in descendants(node)
        if isinstance(below, cst.Lambda)
        for one in descendants(below.params)
        if isinstance(one, cst.Param)
    }
    inner |= {
        one.value
        for below in descendants(node)
        if isinstance(below, cst.CompFor | cst.NamedExpr)
        for one in descendants(below.target)
        if isinstance(one, cst.Name)
    }
    if inner & {*arguments.by_name, *local, arguments.star, arguments.double_star}:
        raise NotInlined
    after = node.visit(Substituting(arguments, local))
    assert isinstance(after, cst.BaseExpression)
    _check_stars(after, arguments)
    return after


def _check_stars(after: cst.CSTNode, arguments: Arguments) -> None:
    """See that `*args` and `**kwargs` are only passed on."""
    left = {one.value for one in descendants(after) if isinstance(one, cst.Name)}
    if left & ({arguments.star, arguments.double_star} - {""}):
        raise NotInlined


def _check_rebound(function: cst.FunctionDef, arguments: Arguments) -> None:
    if _rebound(function) & set(arguments.by_name):
        raise NotInlined


def _rebound(function: cst.FunctionDef) -> set[str]:
    """Return the names that the body of a function binds."""
    if any(isinstance(below, _FOREIGN) for below in descendants(function.body)):
        raise NotInlined
    return set(bound_in(function.body))


def _is_simple(node: cst.BaseExpression) -> bool:
    """Whether an expression may be written several times."""
    match node:
        case cst.Name() | cst.Integer() | cst.Float() | cst.SimpleString():
            return True
        case cst.Attribute(value=value):
            return _is_simple(value)
        case cst.Tuple(elements=elements):
            return all(_is_simple(one.value) for one in elements)
    return False


def _without_docstring(function: cst.FunctionDef) -> list[cst.BaseStatement]:
    body = list(_statements(function.body.body))
    return body[1:] if function.get_docstring() is not None else body


def _statements(body: Sequence[cst.CSTNode]) -> Iterable[cst.BaseStatement]:
    for one in body:
        if not isinstance(one, cst.BaseStatement):
            raise NotInlined
        yield one


def _orelse(node: cst.If) -> list[cst.BaseStatement]:
    """Return the statements for when a condition does not hold."""
    match node.orelse:
        case cst.Else(body=body):
            return list(_statements(body.body))
        case cst.If() as inner:
            return [inner]
    return []


def _ends(body: Sequence[cst.BaseStatement]) -> bool:
    """Whether a body ends with `return` or `raise` whatever happens."""
    if not body:
        return False
    match body[-1]:
        case cst.SimpleStatementLine(body=[*_, last]):
            return isinstance(last, _ENDS)
        case cst.If(body=cst.IndentedBlock(body=first), orelse=orelse):
            if isinstance(orelse, cst.If):
                return _ends(list(_statements(first))) and _ends([orelse])
            if isinstance(orelse, cst.Else):
                return _ends(list(_statements(first))) and _ends(
                    list(_statements(orelse.body.body))
                )
    return False


def raises(body: Sequence[cst.CSTNode]) -> bool:
    """Whether a body ends with `raise`."""
    match body[-1:]:
        case [cst.SimpleStatementLine(body=[*_, cst.Raise()]) | cst.Raise()]:
            return True
    return False


def _only_raises(body: Sequence[cst.BaseStatement]) -> bool:
    return raises(body) and not any(_returns(one) for one in body)


def _returns(node: cst.CSTNode) -> bool:
    """Whether a statement has a `return` of the function in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, cst.Return):
            return True
        if not isinstance(one, cst.FunctionDef | cst.Lambda):
            waiting += one.children
    return False
