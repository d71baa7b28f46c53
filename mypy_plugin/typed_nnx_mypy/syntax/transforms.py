"""The function and the options that a transform is given, in all forms that this is written in.

```python
nnx.jit(f, static_argnums=1)        @nnx.jit                      @nnx.jit(static_argnums=1)
nnx.jit(static_argnums=1)(f)        @partial(nnx.jit, static_argnums=1)
partial(nnx.jit, static_argnums=1)(f)
```

A check of a transform is registered by `on_transform`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Final, NamedTuple, TypeAlias

from mypy.errorcodes import ErrorCode
from mypy.nodes import CallExpr, Context, Decorator, Expression, MemberExpr, NameExpr, RefExpr, Var
from mypy.types import Instance

from typed_nnx_codegen.facts.assigned import assigned_once
from typed_nnx_codegen.facts.names import PARTIAL, Name, name_of
from typed_nnx_codegen.facts.parameters import (
    Function,
    class_of,
    function_of,
    is_of_file,
    of_definition,
    of_type,
)
from typed_nnx_codegen.facts.targets import argument_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.reporter import Reporter

# What they return is called like the function that they are given, and returns the same.
_SAME_SIGNATURE: Final = (
    *("jit", "remat", "checkpoint", "vmap"),
    *("jax.jit", "jax.checkpoint", "jax.vmap"),
)
# What typed_nnx's `grad` and `value_and_grad` make, in its stubs too.
_OF_GRADIENTS: Final = ("_Gradient", "_GradientAndAux", "_ValueAndGradient")
CALLS_OF_GRADIENTS: Final = (
    *("Gradient.__call__", "ValueAndGradient.__call__"),
    *(f"{c}Of{n}.__call__" for c in _OF_GRADIENTS for n in ("1", "2", "OneTuple")),
)
# The names of the parameter for the function.
_FUNCTION: Final = ("f", "fun", "fn")


@dataclass(frozen=True)
class Transform:
    """A transform that is put on a function.

    Attributes:
        name: Its public name: "jit", "jax.grad".
        runtime: The runtime that it is of.
        call: The call that the check is of, which reports.
        written: The call that has the options; None for a decorator without a call.
        function: The function; None where it is not known.
        given: The function as it is written; None where it is decorated.
        first: The position of the function in `written`.
    """

    name: str
    runtime: str
    call: Call
    written: CallExpr | None
    function: Function | None
    given: Expression | None
    first: int = 0

    @property
    def title(self) -> str:
        """The transform and its function, for messages."""
        name = self.function.name if self.function is not None else ""
        return f"{self.name} of `{name}`" if name else self.name

    @property
    def checker(self) -> Reporter:
        """The type checker of the file."""
        return self.call.checker

    def report(self, code: ErrorCode, text: str, at: Context | None = None) -> None:
        """Report a finding at a place, or at the call."""
        self.call.report(code, f"{self.title}: {text}", at)

    @property
    def has_stars(self) -> bool:
        """Whether there may be options that are not written, in ``**options``."""
        return self.written is not None and any(k.is_star() for k in self.written.arg_kinds)

    def option(self, name: str, position: int | None = None) -> Expression | None:
        """Return an option that is given by name, or at a position behind the function from 1."""
        if self.written is None:
            return None
        at = position + self.first if position is not None else len(self.written.args)
        return argument_of(self.written, name, at)


TransformCheck: TypeAlias = Callable[[Transform], None]


_NAMES: Final[set[str]] = set()


def on_transform(*names: str) -> Callable[[TransformCheck], TransformCheck]:
    """Register a check of transforms, by their public names, in all forms that they have."""
    _NAMES.update(names)

    def register(check: TransformCheck) -> TransformCheck:
        @on_call(*names, PARTIAL)
        @wraps(check)
        def of_call(call: Call) -> None:
            transform = _transform_of(call)
            if transform is not None and transform.name in names:
                check(transform)

        return check

    return register


class _Head(NamedTuple):
    """A transform with its options, before it gets a function."""

    name: Name
    written: CallExpr | None
    first: int


@lru_cache(maxsize=1)  # several checks ask
def _transform_of(call: Call) -> Transform | None:
    """Return the transform that a call, maybe of a partial, puts on a function."""
    head: _Head | None = _Head(Name(call.name, call.runtime), call.expression, 0)
    if call.name == PARTIAL:
        head = _head(call.node, call.checker) if isinstance(call.node, Expression) else None
    if head is None or head.name.public not in _NAMES:
        return None
    function, given = _given(call, head.first)
    return _transform(head, call, function, given)


def transform_behind(call: Call) -> Transform | None:
    """Return the outermost transform of what is called.

    That is known for decorated functions and methods of the file, for variables that are assigned
    once, and for ``nnx.jit(f)(...)``. The function of a method begins with `self`.
    """
    callee = call.expression.callee if call.expression is not None else None
    match callee:
        case CallExpr():
            return _applied(callee, call)
        case NameExpr(node=Var() as variable):
            value = assigned_once(variable, call.checker)
            return _applied(value, call) if isinstance(value, CallExpr) else None
        case RefExpr(node=Decorator() as decorator):
            return _outermost(decorator, call)
        case MemberExpr():
            method = _method(callee, call.checker)
            return _outermost(method, call) if method is not None else None
        case _:
            return None


def bound_count(callee: Expression, checker: Reporter) -> int:
    """Return how many arguments what is called has bound: 1 for a decorated method of an object."""
    if not isinstance(callee, MemberExpr):
        return 0
    method, owner = _method(callee, checker), checker.type_of(callee.expr)
    is_bound = method is not None and not method.func.is_static and isinstance(owner, Instance)
    return 1 if is_bound else 0


def _method(callee: MemberExpr, checker: Reporter) -> Decorator | None:
    info = class_of(checker.type_of(callee.expr))
    symbol = info.get(callee.name) if info is not None else None
    return symbol.node if symbol is not None and isinstance(symbol.node, Decorator) else None


def transform_named(expression: Expression, checker: Reporter) -> Name | None:
    """Return the name of the function of a runtime that an expression stands for."""
    if not isinstance(expression, RefExpr) or expression.node is None:
        return None
    name = name_of(expression.node.fullname)
    is_chosen = name is not None and name.runtime in ("jax", *checker.config.runtimes)
    return name if is_chosen else None


def _head(expression: Expression, checker: Reporter) -> _Head | None:
    """Return the transform of ``nnx.jit``, ``nnx.jit(...)`` and ``partial(nnx.jit, ...)``."""
    if not isinstance(expression, CallExpr):
        name = transform_named(expression, checker)
        return _Head(name, None, 0) if name is not None else None
    first, transform = 0, expression.callee
    if isinstance(transform, RefExpr) and transform.fullname == PARTIAL:
        if not expression.args or expression.arg_kinds[0].is_star():
            return None
        first, transform = 1, expression.args[0]
    name = transform_named(transform, checker)
    return _Head(name, expression, first) if name is not None else None


def _applied(applied: CallExpr, call: Call) -> Transform | None:
    """Return the transform of ``nnx.jit(f, ...)`` and ``nnx.jit(...)(f)``."""
    checker = call.checker
    head = _head(applied, checker)
    if head is not None:
        given = _function_argument(applied, head.first)
    else:
        factory = applied.callee
        head = _head(factory, checker) if isinstance(factory, CallExpr) else None
        given = _only_argument(applied)
    if head is None or given is None:
        return None
    return _transform(head, call, _function(given, checker), given)


def _outermost(decorator: Decorator, call: Call) -> Transform | None:
    # mypy's cache has no decorators.
    every = decorator.original_decorators
    if not every or not is_of_file(decorator.func, call.checker):
        return None
    head = _head(every[0], call.checker)
    if head is None:
        return None
    return _transform(head, call, _decorated(decorator, every[0], call.checker), None)


def _transform(
    head: _Head, call: Call, function: Function | None, given: Expression | None
) -> Transform:
    name = head.name
    return Transform(name.public, name.runtime, call, head.written, function, given, head.first)


def _given(call: Call, first: int) -> tuple[Function | None, Expression | None]:
    """Return the function that a call of a transform is given, and where it is written."""
    checker = call.checker
    if isinstance(call.node, Decorator):
        return _decorated(call.node, _own_decorator(call), checker, call), None
    written = call.expression
    if written is None:
        return None, None
    given = _function_argument(written, first)
    if given is not None:
        return _function(given, checker), given
    parent = checker.parent(written)
    if isinstance(parent, Decorator) and written in parent.original_decorators:
        return _decorated(parent, written, checker), None
    if isinstance(parent, CallExpr) and parent.callee is written:
        given = _only_argument(parent)
    return (_function(given, checker), given) if given is not None else (None, None)


def _function(given: Expression, checker: Reporter) -> Function | None:
    """Return what is known of a function, also where decorators keep how it is called."""
    match given:
        case NameExpr(node=Decorator(func=definition, original_decorators=[_, *_] as every)):
            if is_of_file(definition, checker) and _keep_signature(every, checker):
                return of_definition(definition, checker)
        case _:
            pass
    return function_of(given, checker)


def _only_argument(call: CallExpr) -> Expression | None:
    is_one = len(call.args) == 1 and call.arg_kinds[0].is_positional()
    return call.args[0] if is_one else None


def _function_argument(written: CallExpr, first: int) -> Expression | None:
    found = (argument_of(written, name, first) for name in _FUNCTION)
    return next((each for each in found if each is not None), None)


def _own_decorator(call: Call) -> Expression | None:
    """Return the decorator that a call without parentheses is of."""
    assert isinstance(call.node, Decorator)
    found = [
        each
        for each in call.node.original_decorators
        if transform_named(each, call.checker) == Name(call.name, call.runtime)
    ]
    return found[0] if len(found) == 1 else None


def _decorated(
    decorator: Decorator, own: Expression | None, checker: Reporter, call: Call | None = None
) -> Function | None:
    """Return the function that a decorator is given: what the decorators below it return."""
    every = decorator.original_decorators
    if own is not None and _keep_signature(every[every.index(own) + 1 :], checker):
        return of_definition(decorator.func, checker)
    if call is None:
        return None
    given = call.formals(0)
    return of_type(given[0].type) if given else None


def _keep_signature(decorators: Sequence[Expression], checker: Reporter) -> bool:
    heads = [_head(each, checker) for each in decorators]
    return all(head is not None and head.name.public in _SAME_SIGNATURE for head in heads)
