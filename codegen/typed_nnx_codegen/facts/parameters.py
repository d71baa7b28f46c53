"""The parameters of a function that is given to a transform: names, kinds and types.

`function_of` reads what an expression stands for: a function, a method, a lambda, a
`functools.partial` of one, a Module that can be called, a value of a callable type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mypy import nodes, types
from mypy.nodes import ArgKind, Expression, FuncDef, LambdaExpr, NameExpr
from mypy.subtypes import find_member
from mypy.typeops import function_type
from mypy.types import CallableType, Instance, ProperType, Type, get_proper_type

from typed_nnx_codegen.facts.assigned import assigned_once, is_rebound
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.names import PARTIAL

# Where mypy keeps what is left of the function.
_PARTIAL_TYPE: Final = "__mypy_partial"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function.

    Attributes:
        name: Its name; empty where it is positional-only.
        type: Its type; Any where it has no annotation.
        kind: Whether it is positional, optional, ``*args``, keyword-only or ``**kwargs``.
    """

    name: str
    type: ProperType
    kind: ArgKind


@dataclass(frozen=True)
class Function:
    """A function that is given to a transform.

    Attributes:
        parameters: What its calls give, so without `self` for a bound method and without what a
            `functools.partial` binds by position; in order.
        result: The type of what it returns.
        is_exact: Whether there are surely no other parameters. A value of a callable type, or what
            an unknown decorator returns, may take more than its type says.
        definition: The function or lambda as it is written in the file that is being checked; its
            own parameters may begin with one more, `self`. None for functions of other files, for
            partials, objects that are called and values of a callable type.
        name: The name for messages; empty where there is none.
    """

    parameters: tuple[Parameter, ...]
    result: ProperType
    is_exact: bool
    definition: FuncDef | LambdaExpr | None = None
    name: str = ""

    @property
    def positional(self) -> tuple[Parameter, ...]:
        """The parameters that can be given by position, without ``*args``."""
        return tuple(each for each in self.parameters if each.kind.is_positional())

    @property
    def takes(self) -> str:
        """What it takes by position, for messages."""
        known = self.positional
        names = ", ".join(each.name or "_" for each in known)
        return f"it takes {len(known) or 'none'} by position" + (f" ({names})" if names else "")

    @property
    def takes_more_by_position(self) -> bool:
        """Whether there is ``*args``, or may be."""
        return not self.is_exact or any(p.kind is ArgKind.ARG_STAR for p in self.parameters)

    @property
    def takes_more_by_name(self) -> bool:
        """Whether there is ``**kwargs``, or may be."""
        return not self.is_exact or any(p.kind is ArgKind.ARG_STAR2 for p in self.parameters)

    def at(self, position: int) -> Parameter | None:
        """Return the parameter at a position from 0, or from the end where it is negative.

        None where there is none that is known: negative positions need to know them all.
        """
        known = self.positional
        if position < 0:
            position = len(known) + position if not self.takes_more_by_position else -1
        return known[position] if 0 <= position < len(known) else None

    def named(self, name: str) -> Parameter | None:
        """Return the parameter that can be given by a name."""
        for each in self.parameters:
            if each.name == name and not each.kind.is_star():
                return each
        return None

    def chosen(self, key: int | str) -> Parameter | None:
        """Return the parameter at a position, or of a name."""
        return self.at(key) if isinstance(key, int) else self.named(key)


def function_of(expression: Expression, checker: Checker) -> Function | None:
    """Return what is known of a function; None where its parameters are not."""
    definition = definition_of(expression, checker)
    found = checker.type_of(expression)
    if definition is not None:
        return of_definition(definition, checker, found)
    if isinstance(found, Instance) and found.type.fullname == PARTIAL:
        return _of_partial(expression, found, checker)
    return of_type(found)


def definition_of(expression: Expression, checker: Checker) -> FuncDef | LambdaExpr | None:
    """Return the function or lambda that an expression stands for, maybe a bound method.

    None where it is not certain: what decorators return, overloads, abstract methods, variables
    that are assigned several times. Functions of other files may have no body here.
    """
    match expression:
        case LambdaExpr():
            return expression
        case nodes.RefExpr(node=FuncDef() as function):
            return function if not is_rebound(function, checker) else None
        case NameExpr(node=nodes.Var() as variable):
            value = assigned_once(variable, checker)
            # Only names that stand for a function: no chains, which could be endless.
            is_plain = isinstance(value, LambdaExpr) or (
                isinstance(value, NameExpr) and isinstance(value.node, FuncDef)
            )
            return definition_of(value, checker) if value is not None and is_plain else None
        case nodes.MemberExpr():
            info = class_of(checker.type_of(expression.expr))
            symbol = info.get(expression.name) if info is not None else None
            match symbol.node if symbol is not None else None:
                case FuncDef(abstract_status=status) as method if status == nodes.NOT_ABSTRACT:
                    return method
                case _:
                    return None
        case _:
            return None


def class_of(found: ProperType) -> nodes.TypeInfo | None:
    """Return the class of an object, or the class that a type stands for as an object."""
    match found:
        case Instance():
            return found.type
        case CallableType() if found.is_type_obj():
            return found.type_object()
        case _:
            return None


def of_definition(
    definition: FuncDef | LambdaExpr, checker: Checker, found: Type | None = None
) -> Function | None:
    """Return what is known of a function that is written in full.

    Args:
        definition: The function or lambda.
        checker: The type checker of the file.
        found: The type of what is given to the transform, a bound method say; None for the type of
            the definition itself.
    """
    if found is None and isinstance(definition, FuncDef):
        found = function_type(definition, checker.api.named_type("builtins.function"))
    whole = get_proper_type(found)
    if not isinstance(whole, CallableType):
        return None
    # The arguments at the front are bound: `self` of a method.
    bound = len(definition.arg_names) - len(whole.arg_types)
    if bound not in (0, 1):
        return of_type(whole)
    parameters = _parameters(whole, definition.arg_names[bound:], definition.arg_kinds[bound:])
    return Function(
        parameters=tuple(parameters),
        result=get_proper_type(whole.ret_type),
        is_exact=True,
        definition=definition if is_of_file(definition, checker) else None,
        name=definition.name if isinstance(definition, FuncDef) else "",
    )


def is_of_file(definition: FuncDef | LambdaExpr, checker: Checker) -> bool:
    """Tell whether a function is written in the file that is being checked.

    Others have no body where mypy read them from its cache.
    """
    if isinstance(definition, LambdaExpr) or "." not in definition.fullname:
        return True  # inside a function, so it could not be named elsewhere
    module = checker.tree.fullname + "."
    if not definition.fullname.startswith(module):
        return False
    first = definition.fullname.removeprefix(module).partition(".")[0]
    symbol = checker.tree.names.get(first)
    return symbol is not None and not isinstance(symbol.node, nodes.MypyFile)


def of_type(found: Type | None) -> Function | None:
    """Return what a callable type says of a function, or the type of an object that is called."""
    whole = get_proper_type(found)
    if isinstance(whole, Instance):
        whole = get_proper_type(find_member("__call__", whole, whole, is_operator=True))
    if not isinstance(whole, CallableType) or whole.is_ellipsis_args:
        return None
    parameters = tuple(_parameters(whole, whole.arg_names, whole.arg_kinds))
    return Function(parameters, get_proper_type(whole.ret_type), is_exact=False)


def _parameters(
    whole: CallableType, names: Sequence[str | None], kinds: Sequence[ArgKind]
) -> Iterator[Parameter]:
    for found, name, kind in zip(whole.arg_types, names, kinds, strict=True):
        proper = get_proper_type(found)
        if isinstance(proper, types.ParamSpecType | types.UnpackType):
            proper = types.AnyType(types.TypeOfAny.special_form)
        yield Parameter(name or "", proper, kind)


def _of_partial(expression: Expression, found: Instance, checker: Checker) -> Function | None:
    """Return what a `functools.partial` leaves of a function."""
    attributes = found.extra_attrs.attrs if found.extra_attrs is not None else {}
    left = of_type(attributes.get(_PARTIAL_TYPE))
    if left is None:
        return None
    if isinstance(expression, NameExpr):
        expression = assigned_once(expression.node, checker) or expression
    if not isinstance(expression, nodes.CallExpr) or not expression.args:
        return left
    inner = function_of(expression.args[0], checker)
    has_stars = any(kind.is_star() for kind in expression.arg_kinds)
    if inner is None or not inner.is_exact or has_stars:
        return left
    # Behind a parameter that is bound by name nothing can be given by position, whatever mypy says.
    named = [n for n, each in enumerate(left.parameters) if each.kind.is_named()]
    by_position = [n for n, each in enumerate(left.parameters) if each.kind.is_positional()]
    is_exact = not named or not by_position or max(by_position) < min(named)
    return Function(left.parameters, left.result, is_exact, name=inner.name)
