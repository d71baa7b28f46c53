"""``nnx-deprecated``: older spellings, with the number of the rule that rewrites them.

What the runtimes do not have any more is an error of mypy already, and not reported again.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    MemberExpr,
    NameExpr,
    RefExpr,
)
from mypy.plugin import AttributeContext
from mypy.types import NoneType, UnboundType

from typed_nnx_mypy.call import Argument, Call, ClassCheck
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.deprecations import RULES, Spelling
from typed_nnx_mypy.errorcodes import DEPRECATED
from typed_nnx_mypy.names import name_of
from typed_nnx_mypy.registry import on_call, on_class

_ANNOTATIONS: Final = ("Data", "Static")


class _Old(NamedTuple):
    """An older spelling, with what to report."""

    spelling: Spelling
    message: str


def _by_name() -> dict[str, list[_Old]]:
    found: defaultdict[str, list[_Old]] = defaultdict(list)
    for rule in RULES:
        for old in rule.spellings:
            what = f"{old.name}({old.keyword}=...)" if old.keyword else old.name
            said = f"`{what}` is deprecated ({rule.code}). Fix: {old.write}"
            if not old.is_gone:
                found[old.name].append(_Old(old, said))
    return dict(found)


_OLD: Final = _by_name()
# A class by its older name is the class: mypy calls it by the name of now.
_OLD["Variable"] += _OLD["VariableState"]
# Methods that every Module of a user has.
INHERITED: Final = frozenset({"iter_children", "iter_modules"})
_FALSE: Final = "builtins.False"
_ATTRIBUTES: Final = ("raw_value", "sharding_names", "value")
_ENDINGS: Final = tuple(f".Variable.{name}" for name in _ATTRIBUTES)


# -- calls ------------------------------------------------------------------------------------


@on_call(*(name for name in _OLD if name not in _ANNOTATIONS))
def older_spellings_are_replaced(call: Call) -> None:
    """Report calls of what is deprecated, and deprecated arguments."""
    for old in _OLD[call.name]:
        keyword = old.spelling.keyword
        if keyword:
            given = call.keyword(keyword)
            if given is not None and not _is_off(given):
                call.report(DEPRECATED, old.message, given.expression)
        elif _is_written(old.spelling, call):
            call.report(DEPRECATED, old.message)


def _is_off(given: Argument) -> bool:
    """Tell whether an argument is what it is without it."""
    is_false = isinstance(given.expression, RefExpr) and given.expression.fullname == _FALSE
    return is_false or isinstance(given.type, NoneType)


def _is_written(spelling: Spelling, call: Call) -> bool:
    """Tell whether a call is written with the older name, and not with another of the same."""
    node = call.node
    callee = node.callee if isinstance(node, CallExpr) else None
    name = spelling.name.rpartition(".")[2]
    return isinstance(callee, NameExpr | MemberExpr) and callee.name == name


# -- attributes -------------------------------------------------------------------------------


def is_older_attribute(fullname: str) -> bool:
    """Tell whether a full name is that of an older attribute of Variables."""
    return fullname.endswith(_ENDINGS)


def report_attribute(context: AttributeContext, public: str, checker: Checker) -> None:
    """Report that an older attribute is read or set; a class that overrides it does neither."""
    if not isinstance(context.context, MemberExpr):
        return
    for old in _OLD.get(public, ()):
        checker.report(DEPRECATED, old.message, context.context)


# -- annotations ------------------------------------------------------------------------------


@on_class
def fields_are_marked_by_value(check: ClassCheck) -> None:
    """Report ``x: nnx.Data[T]`` in the body of a class."""
    for statement in check.owner.defn.defs.body:
        if not isinstance(statement, AssignmentStmt):
            continue
        written = statement.unanalyzed_type
        if isinstance(written, UnboundType):
            symbol = check.checker.named(written.name)
            name = name_of(symbol.fullname or "") if symbol is not None else None
            if name is not None and name.public in _ANNOTATIONS:
                check.report(DEPRECATED, _OLD[name.public][0].message, written)
