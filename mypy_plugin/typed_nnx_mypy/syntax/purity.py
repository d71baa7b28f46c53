"""Functions that surely do nothing but return a value."""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import Expression, IndexExpr, MemberExpr, NameExpr, StrExpr, TypeInfo

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_codegen.facts.parameters import definition_of, is_of_file

_MODULES: Final = (
    *("jax.numpy.", "jax._src.numpy.", "jax.nn.", "jax._src.nn.", "jax.random."),
    *("jax._src.random.", "jax._src.lax.lax.", "jax._src.lax.slicing."),
)
# Of those modules: what calls a function that it is given, writes a file or changes a setting.
_EFFECTS: Final = frozenset(
    {
        *("apply_along_axis", "apply_over_axes", "frompyfunc", "fromfunction", "piecewise"),
        *("printoptions", "save", "savez", "set_printoptions", "vectorize"),
    }
)
_FUNCTIONS: Final = frozenset(
    {
        *("builtins.abs", "builtins.bool", "builtins.float", "builtins.getattr"),
        *("builtins.hasattr", "builtins.int", "builtins.isinstance", "builtins.len"),
        *("builtins.max", "builtins.min", "builtins.str", "builtins.tuple", "builtins.type"),
        *("jax._src.ad_util.stop_gradient", "jax.lax.stop_gradient"),
    }
)
_METHODS: Final = frozenset(
    {
        *("all", "any", "argmax", "argmin", "astype", "clip", "conj", "copy", "cumprod", "cumsum"),
        *("diagonal", "dot", "flatten", "get_value", "item", "max", "mean", "min", "prod"),
        *("ravel", "repeat", "replace", "reshape", "round", "sort", "squeeze", "std", "sum"),
        *("swapaxes", "take", "to_device", "trace", "transpose", "var", "view"),
    }
)
# Of `x.at[...]`.
_UPDATES: Final = frozenset({"add", "divide", "get", "max", "min", "multiply", "set"})
_HARMLESS: Final = (
    *(nodes.Block, nodes.IfStmt, nodes.PassStmt, nodes.ReturnStmt, nodes.BytesExpr),
    *(nodes.ComparisonExpr, nodes.ComplexExpr, nodes.ConditionalExpr, nodes.DictExpr),
    *(nodes.EllipsisExpr, nodes.FloatExpr, nodes.IndexExpr, nodes.IntExpr, nodes.ListExpr),
    *(nodes.MemberExpr, nodes.NameExpr, nodes.OpExpr, nodes.SliceExpr, nodes.StarExpr),
    *(nodes.StrExpr, nodes.TupleExpr, nodes.UnaryExpr),
)


def is_pure(function: Expression, checker: Checker) -> bool:
    """Tell whether a call of a function surely has no effect but its result.

    Args:
        function: What stands for the function: a lambda, a name of the file, a function of jax.
        checker: The type checker of the file.
    """
    definition = definition_of(function, checker)
    return _is_known(function) or (
        definition is not None
        and is_of_file(definition, checker)
        and all(map(_is_harmless, descendants(definition.body)))
    )


def _is_harmless(node: nodes.Node) -> bool:
    """Tell whether a node surely has no effect of its own; those in it are asked about, too."""
    match node:
        case nodes.CallExpr():
            return _is_pure_callee(node.callee)
        case nodes.AssignmentStmt(lvalues=[NameExpr(kind=nodes.LDEF)]):
            return True
        case nodes.ExpressionStmt():
            return isinstance(node.expr, StrExpr)
        case _:
            return isinstance(node, _HARMLESS)


def _is_pure_callee(callee: Expression) -> bool:
    if _is_known(callee):
        return True
    match callee:
        case MemberExpr(expr=NameExpr(node=nodes.MypyFile() | TypeInfo())):
            return False
        case MemberExpr(name=name, expr=IndexExpr(base=MemberExpr(name="at"))):
            return name in _UPDATES
        case MemberExpr(name=name):
            return name in _METHODS
        case _:
            return False


def _is_known(function: Expression) -> bool:
    """Tell whether an expression names a function or a class without effects."""
    if not isinstance(function, nodes.RefExpr) or not function.fullname:
        return False
    node = function.node
    if isinstance(node, TypeInfo) and runtime_of(node.fullname):
        return any(base.name == "Variable" for base in node.mro)
    name = function.fullname
    if name in _FUNCTIONS:
        return True
    return name.startswith(_MODULES) and name.rpartition(".")[2] not in _EFFECTS
