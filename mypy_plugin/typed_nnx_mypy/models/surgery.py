"""What a file does to models after they are made, so that they may have other attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    Context,
    Expression,
    ExpressionStmt,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    StrExpr,
)
from mypy.types import AnyType, CallableType, Instance, ProperType, TypeVarType, get_proper_type

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.assigned import file_of
from typed_nnx_mypy.models.kinds import Kind, kind_of
from typed_nnx_mypy.names import runtime_of
from typed_nnx_mypy.syntax.targets import is_same_target, is_self

# Libraries whose functions do not give models other attributes.
_LIBRARIES: Final = frozenset(
    {"builtins", "copy", "flax", "functools", "jax", "math", "numpy", "optax", "pprint"}
    | {"pytest", "typed_nnx", "typing"}
)
# What layers record while they run, so that a class without it is the rule.
_RECORDED: Final = frozenset({"Intermediate", "Perturbation"})
_BASES: Final = frozenset({"Pytree", "Module", "Object"})


def may_be_other(keys: Iterable[object], access: Context, checker: Checker) -> bool:
    """Tell whether a file may give models other attributes than their classes do.

    Args:
      keys: The names of the attributes that are asked about.
      access: Where the question comes from.
      checker: The type checker of the file.
    """
    if not isinstance(access, Node):
        return True
    file = file_of(access, checker)
    for key in keys:
        if isinstance(key, str) and not all(map(is_self, file.set_on.get(key, ()))):
            return True
    return any(_changes_attributes(node, checker) for node in file.seen)


def _changes_attributes(node: Node, checker: Checker) -> bool:
    match node:
        case CallExpr(callee=NameExpr(name="setattr" | "delattr"), args=[owner, name, *_]):
            return not isinstance(name, StrExpr) and not is_self(owner)
        case CallExpr(callee=MemberExpr(expr=NameExpr(node=MypyFile()), name="pop")):
            return not all(map(_is_recorded, node.args[1:]))  # nnx.pop(model, ...)
        case ExpressionStmt(expr=CallExpr() as call):
            return any(True for _ in _handed_on(call, checker))
        case AssignmentStmt(lvalues=[target], rvalue=CallExpr() as call):
            # `model = inject(model)`
            return any(is_same_target(target, each) for each in _handed_on(call, checker))
        case _:
            return False


def _is_recorded(filter_: Expression) -> bool:
    return isinstance(filter_, NameExpr | MemberExpr) and filter_.name in _RECORDED


def _handed_on(call: CallExpr, checker: Checker) -> Iterator[Expression]:
    """Yield the models that a call gives to a function that takes any."""
    callee = checker.known_type(call.callee)
    if callee is None or not (isinstance(callee, AnyType) or _is_own_function(callee)):
        return
    for at, argument in enumerate(call.args):
        found = checker.known_type(argument)
        is_model = found is not None and kind_of(found) is Kind.PYTREE
        if is_model and _takes_any(callee, at, call.arg_names[at]):
            yield argument


def _is_own_function(callee: ProperType) -> bool:
    """Tell whether a function is none of a library, and no class."""
    if not isinstance(callee, CallableType) or callee.is_type_obj():
        return False
    name = callee.definition.fullname if callee.definition is not None else ""
    return name.partition(".")[0] not in _LIBRARIES


def _takes_any(callee: ProperType, at: int, name: str | None) -> bool:
    """Tell whether a parameter takes models of all classes, or does not say which."""
    if not isinstance(callee, CallableType):
        return True
    if name is not None and name in callee.arg_names:
        at = callee.arg_names.index(name)
    if at >= len(callee.arg_types):
        return True
    found = get_proper_type(callee.arg_types[at])
    if isinstance(found, TypeVarType):
        return True
    if not isinstance(found, Instance):
        return True
    return found.type.fullname == "builtins.object" or (
        found.type.name in _BASES and bool(runtime_of(found.type.fullname))
    )
