"""``nnx-misplaced-mark``: ``nnx.data(...)`` and ``nnx.static(...)`` where nothing takes the mark off.

They return the value wrapped. Only an assignment to an attribute of a Pytree, an element of a List
or Dict and the body of a dataclass unwrap it.
"""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, Expression, FuncDef, MemberExpr, NameExpr, Node
from mypy.types import Instance

from typed_nnx_codegen.facts.assigned import assigned_once
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.kinds import is_plain_container, is_pytree, is_variable
from typed_nnx_codegen.facts.marks import methods_of
from typed_nnx_codegen.facts.names import name_of, runtime_of
from typed_nnx_codegen.facts.values import Display
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import MISPLACED_MARK
from typed_nnx_mypy.models.history import FILLING
from typed_nnx_mypy.registry import on_call

# Functions of Python that use the value, and so fail with a mark.
_USING: Final = frozenset(
    f"builtins.{name}"
    for name in (
        *("abs", "all", "any", "divmod", "enumerate", "float", "int", "iter", "len", "max", "min"),
        *("next", "pow", "range", "reversed", "round", "sorted", "sum"),
    )
)
# Functions of the runtimes that put what they are given into Pytrees.
_TAKING: Final = ("List", "Dict", "Sequential", "data", "static")
_OPERATORS: Final = ("or", "and")


@on_call("data", "static")
def mark_is_taken_off(call: Call) -> None:
    """Report a mark that nothing takes off its value."""
    node = call.expression
    if node is None:
        return
    finding = _Place(call.checker).finding(node)
    if finding:
        call.report(
            MISPLACED_MARK,
            f"nnx.{call.name}: {finding}. "
            f"Fix: write `self.name = nnx.{call.name}(...)` where the attribute is assigned",
        )
    elif not call.positional and not call.has_stars and _is_of_attribute(node, call.checker):
        call.report(
            MISPLACED_MARK,
            f"nnx.{call.name}: options without a value make a dataclass field, and this is an "
            f"attribute. Fix: write `nnx.{call.name}(value)`",
        )


def _is_of_attribute(node: CallExpr, checker: Checker) -> bool:
    parent = checker.parent(node)
    return isinstance(parent, AssignmentStmt) and any(
        isinstance(each, MemberExpr) for each in parent.lvalues
    )


class _Place:
    """Finds out what becomes of a marked value."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    def finding(self, node: Expression) -> str:
        """Say why a mark is lost where an expression stands; empty where it may be right."""
        parent = self._checker.parent(node)
        match parent:
            case nodes.ConditionalExpr():
                return self.finding(parent) if node is not parent.cond else ""
            case nodes.OpExpr() if parent.op in _OPERATORS:
                return ""
            case AssignmentStmt():
                return self._assigned(parent)
            case nodes.ExpressionStmt():
                return "the mark has no effect, since the result is not used"
            case CallExpr():
                return self._argument(parent, node)
            case nodes.StarExpr():
                return ""
            case _:
                used = _use(node, parent)
                return used or self._inside(node)

    # -- containers ---------------------------------------------------------------------------

    def _inside(self, node: Expression) -> str:
        """Say it of an element of a display."""
        depth, parent = 0, self._checker.parent(node)
        while isinstance(parent, Display):
            if not isinstance(parent, nodes.GeneratorExpr) or not isinstance(
                self._checker.parent(parent), Display
            ):
                depth += 1
            parent = self._checker.parent(parent)
        if not depth:
            return ""
        text = "it stands inside a container, where nothing takes the mark off"
        match parent:
            case AssignmentStmt(lvalues=targets):
                owners = (each.expr for each in targets if isinstance(each, MemberExpr))
                return text if any(map(self._is_pytree, owners)) else ""
            case CallExpr():
                return text if self._takes_container(parent, depth) else ""
            case _:
                return ""

    def _takes_container(self, call: CallExpr, depth: int) -> bool:
        public = _public(call)
        if public in ("data", "static"):
            return True
        if public in ("List", "Dict", "Sequential"):
            return depth > 1
        return _is_jax(call)

    # -- assignments --------------------------------------------------------------------------

    def _assigned(self, statement: AssignmentStmt) -> str:
        if len(statement.lvalues) != 1:
            return ""
        target = statement.lvalues[0]
        match target:
            case MemberExpr():
                return self._attribute(target)
            case nodes.IndexExpr() if self._is_plain_attribute(target.base):
                return "it is put into a plain container, where nothing takes the mark off"
            case NameExpr():
                return self._variable(target)
            case _:
                return ""

    def _attribute(self, target: MemberExpr) -> str:
        """Say it of an attribute of a class that is no Pytree, and surely no mixin of one."""
        owner = self._checker.current_class
        function = self._checker.function_around(target)
        node = target.expr.node if isinstance(target.expr, NameExpr) else None
        if (
            owner is None
            or not isinstance(function, FuncDef)
            or function.name != "__init__"
            or not isinstance(node, nodes.Var)
            or not node.is_self
            or not _stands_alone(owner)
        ):
            return ""
        return f"{owner.name} is not a Pytree, so its attributes keep the mark"

    def _variable(self, target: NameExpr) -> str:
        """Say it of a local variable that is used as if it were the value itself."""
        if target.kind != nodes.LDEF or assigned_once(target.node, self._checker) is None:
            return ""  # a name in the body of a class is a field
        every = (each for each in self._checker.syntax.nodes if isinstance(each, NameExpr))
        uses = [each for each in every if each.node is target.node and each is not target]
        if not uses:
            return f"the variable `{target.name}` is not used, so the mark has no effect"
        for each in uses:
            parent = self._checker.parent(each)
            is_used = _use(each, parent) or (
                isinstance(parent, CallExpr) and self._uses_value(parent, each)
            )
            if is_used:
                return (
                    f"the variable `{target.name}` has the marked value, which is not the value "
                    f"itself, and line {each.line} uses it"
                )
        return ""

    # -- calls --------------------------------------------------------------------------------

    def _argument(self, call: CallExpr, node: Expression) -> str:
        if node is call.callee:
            return ""
        callee, public = call.callee, _public(call)
        if public in ("data", "static"):
            return "a mark stands inside another one"
        if self._uses_value(call, node):
            name = callee.name if isinstance(callee, NameExpr | MemberExpr) else "the function"
            return f"`{name}` is given the marked value, and not the value itself"
        if (
            isinstance(callee, MemberExpr)
            and callee.name in FILLING
            and self._is_plain_attribute(callee.expr)
        ):
            return "it is put into a plain container, where nothing takes the mark off"
        return ""

    def _uses_value(self, call: CallExpr, node: Expression) -> bool:
        """Tell whether a function surely needs the value itself."""
        if node is call.callee or not isinstance(call.callee, nodes.RefExpr):
            return False
        callee = call.callee
        if callee.fullname in _USING or _is_jax(call):
            return True
        if not runtime_of(callee.fullname) or _public(call) in _TAKING:
            return False
        if isinstance(callee.node, nodes.TypeInfo):
            return is_variable(callee.node)
        return _public(call) in _FUNCTIONS

    # -- what things are ----------------------------------------------------------------------

    def _is_pytree(self, expression: Expression) -> bool:
        found = self._checker.type_of(expression)
        return isinstance(found, Instance) and is_pytree(found.type)

    def _is_plain_attribute(self, expression: Expression) -> bool:
        """Tell whether an expression is an attribute of a Pytree that is a built-in container."""
        return (
            isinstance(expression, MemberExpr)
            and self._is_pytree(expression.expr)
            and is_plain_container(self._checker.type_of(expression))
        )


# Functions of the runtimes that fail with a mark.
_FUNCTIONS: Final = frozenset({"jit", "vmap", "pmap", "grad", "value_and_grad", "merge", "relu"})


def _public(call: CallExpr) -> str:
    """Return the public name of what a call calls; empty where it is no runtime's."""
    fullname = call.callee.fullname if isinstance(call.callee, nodes.RefExpr) else ""
    found = name_of(fullname) if runtime_of(fullname) else None
    return found.public if found is not None else ""


def _is_jax(call: CallExpr) -> bool:
    fullname = call.callee.fullname if isinstance(call.callee, nodes.RefExpr) else ""
    return fullname.startswith(("jax.", "numpy.")) and ".debug" not in fullname


def _use(node: Node, parent: Node | None) -> str:
    """Say how an expression is used that has to be a value without a mark; empty for others."""
    text = "the marked value is used, and not the value itself"
    match parent:
        case nodes.OpExpr() if parent.op not in _OPERATORS:
            return text
        case nodes.UnaryExpr() if parent.op != "not":
            return text
        case nodes.ComparisonExpr():
            is_ordered = any(each in ("<", ">", "<=", ">=") for each in parent.operators)
            return text if is_ordered else ""
        case MemberExpr():
            return text
        case nodes.IndexExpr():
            return text if node is parent.base else ""
        case nodes.ForStmt():
            return text if node is parent.expr else ""
        case nodes.GeneratorExpr() | nodes.DictionaryComprehension():
            return text if node in parent.sequences else ""
        case _:
            return ""


def _stands_alone(owner: nodes.TypeInfo) -> bool:
    """Tell whether a class is surely not made to be the base of a Pytree, too."""
    if (
        is_pytree(owner)
        or owner.fallback_to_any
        or owner.is_protocol
        or owner.is_abstract
        or owner.metaclass_type is not None
        or "mixin" in owner.name.lower()
        or any(base.fullname != "builtins.object" for base in owner.mro[1:])
    ):
        return False
    if owner.defn.keywords:
        return False
    return not any(
        isinstance(node, nodes.SuperExpr)
        for method in methods_of(owner.defn)
        for node in descendants(method.body)
    )
