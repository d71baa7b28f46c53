"""What a hook of mypy is told, in the form that checks and inferences work with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Final

from mypy import nodes
from mypy.errorcodes import ErrorCode
from mypy.nodes import AssignmentStmt, CallExpr, Context, Decorator, FuncDef, IndexExpr
from mypy.plugin import AttributeContext, FunctionContext, MethodContext
from mypy.types import Instance, ProperType, Type, get_proper_type

from typed_nnx_codegen.facts.assigned import Value
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.filter_syntax import read_filter
from typed_nnx_codegen.facts.filters import Filter
from typed_nnx_codegen.facts.internals import ErrorInfo
from typed_nnx_codegen.facts.kinds import literal, runtime_of_class
from typed_nnx_codegen.facts.names import Name, runtime_of
from typed_nnx_mypy.reporter import Reporter


@dataclass(frozen=True)
class Argument:
    """An argument that a call gives.

    Attributes:
        expression: What is given.
        type: Its type.
        kind: How it is given: by position, by name, or with a star.
        name: The keyword; None where it is given by position.
    """

    expression: nodes.Expression
    type: ProperType
    kind: nodes.ArgKind
    name: str | None


class Call:
    """A call of a function or a method that the plugin knows, with the types that mypy found.

    Attributes:
        name: The public name of what is called.
        runtime: The runtime of what is called, or "jax".
        checker: The type checker of the file.
        node: The call. A Decorator or ClassDef where the function decorates, an IndexExpr where
            `x[key]` calls `__getitem__`, any other expression where an operator calls a method.
        receiver: The type of the object whose method is called; None for a function.
        result: The type that the call has by its signature.
    """

    def __init__(
        self, name: Name, context: FunctionContext | MethodContext, checker: Reporter
    ) -> None:
        self.name: Final = name.public
        self.runtime: Final = name.runtime
        self.checker: Final = checker
        self.node: Final[Context] = context.context
        self.receiver: Final = context.type if isinstance(context, MethodContext) else None
        self.result: Type = context.default_return_type
        self._context = context

    # -- arguments ----------------------------------------------------------------------------

    def formals(self, index: int) -> list[Argument]:
        """Return all that the parameter at `index` is given: several for ``*args``."""
        context = self._context
        if index >= len(context.args):
            return []
        return [
            Argument(expression, self._own_type(expression, get_proper_type(found)), kind, name)
            for expression, found, kind, name in zip(
                context.args[index],
                context.arg_types[index],
                context.arg_kinds[index],
                context.arg_names[index],
                strict=True,
            )
        ]

    def _own_type(self, expression: nodes.Expression, found: ProperType) -> ProperType:
        """Return the type of an argument; that of a generic call is what a parameter expects."""
        if not isinstance(found, Instance) or not isinstance(expression, CallExpr):
            return found
        name = found.type.fullname
        is_expected = name == "typing.Mapping" or (found.type.is_protocol and runtime_of(name))
        return self.checker.type_alone(expression) if is_expected else found

    @property
    def expression(self) -> CallExpr | None:
        """The call as it is written; None where there is none, as for a decorator."""
        return self.node if isinstance(self.node, CallExpr) else None

    @cached_property
    def _given(self) -> list[Argument]:
        """All that the call gives, in the order of the source, whatever the signature's form."""
        call, formals = self.expression, range(len(self._context.args))
        rows = [each for index in formals for each in self.formals(index)]
        if call is None:
            return rows
        return [
            next((each for each in rows if each.expression is expression), None)
            or Argument(expression, self.checker.type_of(expression), kind, name)
            for expression, kind, name in zip(
                call.args, call.arg_kinds, call.arg_names, strict=True
            )
        ]

    @property
    def positional(self) -> list[Argument]:
        """What is given by position; it ends before the first starred argument."""
        before = takewhile(lambda each: not each.kind.is_star(), self._given)
        return [each for each in before if each.kind is nodes.ARG_POS]

    @property
    def has_stars(self) -> bool:
        """Whether the call has ``*args`` or ``**kwargs``, so that not all it is given is known."""
        call = self.expression
        return call is not None and any(kind.is_star() for kind in call.arg_kinds)

    @property
    def named(self) -> dict[str, Argument]:
        """What is given by keywords."""
        given = self._given if self.expression is not None else ()
        return {each.name: each for each in given if each.name is not None}

    def keyword(self, name: str) -> Argument | None:
        """Return what is given by the keyword `name`."""
        return self.named.get(name)

    def argument(self, name: str, position: int) -> Argument | None:
        """Return what is given by the keyword `name` or at `position`, from 0."""
        found = self.keyword(name)
        if found is not None:
            return found
        positional = self.positional
        return positional[position] if position < len(positional) else None

    def subject(self, name: str = "node", position: int = 0) -> Argument | None:
        """Return the object whose method is called, or what a function is given in its place."""
        if self.receiver is None:
            return self.argument(name, position)
        callee = self.expression.callee if self.expression is not None else None
        if not isinstance(callee, nodes.MemberExpr):
            return None
        return Argument(callee.expr, get_proper_type(self.receiver), nodes.ARG_POS, None)

    def behind(self, subject: Argument | None) -> list[Argument]:
        """Return what is given by position, without the subject of a function."""
        return [each for each in self.positional if each is not subject]

    # -- surroundings -------------------------------------------------------------------------

    @property
    def decorated(self) -> FuncDef | None:
        """The function that is decorated: ``@nnx.jit`` and ``@nnx.jit(static_argnums=1)`` both."""
        if isinstance(self.node, Decorator):
            return self.node.func
        call = self.expression
        parent = self.checker.parent(call) if call is not None else None
        if isinstance(parent, Decorator) and call in parent.original_decorators:
            return parent.func
        return None

    def report(self, code: ErrorCode, message: str, context: Context | None = None) -> None:
        """Report a finding at `context`, or at the call."""
        self.checker.report(code, message, context if context is not None else self.node)


class StateAccess:
    """An access ``state.name`` or ``state[key]``.

    Attributes:
        checker: The type checker of the file.
        node: The access.
        receiver: The type of the State; a Union where it is one of several.
        key: The name or the key; None where the key is not written as a literal.
        key_type: The type of the key; None for an attribute.
        result: The type that the access has by the signatures.
        is_lvalue: Whether the access is assigned to.
    """

    def __init__(self, context: AttributeContext | MethodContext, checker: Reporter) -> None:
        self.checker: Final = checker
        self.node: Final[Context] = context.context
        self.receiver: Final[ProperType] = get_proper_type(context.type)
        self.is_lvalue = isinstance(context, AttributeContext) and context.is_lvalue
        self.key: str | int | None = None
        self.key_type: ProperType | None = None
        if isinstance(context, AttributeContext):
            self.result: Type = context.default_attr_type
            self.key = getattr(self.node, "name", None)
        else:
            self.result = context.default_return_type
            types = context.arg_types[0] if context.arg_types else []
            self.key_type = get_proper_type(types[0]) if types else None
            self.key = literal(self.key_type)

    @property
    def base(self) -> nodes.Expression | None:
        """The expression that is the State."""
        if isinstance(self.node, nodes.MemberExpr):
            return self.node.expr
        return self.node.base if isinstance(self.node, IndexExpr) else None

    @property
    def is_index(self) -> bool:
        """Whether the access is ``state[key]``."""
        return isinstance(self.node, IndexExpr)

    def report(self, code: ErrorCode, message: str) -> None:
        """Report a finding at the access."""
        self.checker.report(code, message, self.node)


@dataclass(frozen=True)
class MypyError:
    """An error or a note that mypy is about to show.

    Attributes:
        checker: The type checker of the file.
        info: The error. It may be changed.
    """

    checker: Reporter
    info: ErrorInfo


@dataclass(frozen=True)
class ClassCheck:
    """A Pytree class whose body has annotated attributes, when mypy reaches the end of the body.

    Attributes:
        checker: The type checker of the file.
        owner: The class.
    """

    checker: Reporter
    owner: nodes.TypeInfo

    @property
    def runtime(self) -> str:
        """The runtime of the class."""
        return runtime_of_class(self.owner)

    def fields(self) -> Iterator[tuple[str, ProperType, AssignmentStmt]]:
        """Yield the attributes that the body declares: name, type, statement."""
        for each in self.owner.defn.defs.body:
            if isinstance(each, AssignmentStmt) and each.type is not None:
                target = each.lvalues[0]
                if isinstance(target, nodes.NameExpr):
                    yield target.name, get_proper_type(each.type), each

    def report(self, code: ErrorCode, message: str, context: Context) -> None:
        """Report a finding at `context`."""
        self.checker.report(code, message, context)


@dataclass(frozen=True)
class StoreCheck(ClassCheck):
    """An assignment ``model.x = ...`` from outside, to an attribute of a Pytree.

    Attributes:
        name: The attribute.
        statement: The assignment.
    """

    name: str
    statement: AssignmentStmt


@dataclass(frozen=True)
class AttributeCheck(StoreCheck):
    """An assignment to an attribute of the object in a method of a Pytree.

    Attributes:
        function: The method.
        assigned: What is assigned, which may be unpacked from something.
    """

    function: FuncDef
    assigned: Value

    @property
    def value(self) -> nodes.Expression | None:
        """What is assigned; None where it is unpacked from something."""
        return None if self.assigned.items else self.assigned.value


def filters_of(given: Iterable[Argument], checker: Checker) -> list[Filter]:
    """Return the filters that arguments of a call are."""
    return [read_filter(each.expression, each.type, checker) for each in given]
