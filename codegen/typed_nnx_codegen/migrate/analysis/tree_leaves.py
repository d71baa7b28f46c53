"""What the leaves of a tree are, by the `is_leaf` of a call: ``lambda x: isinstance(x, nnx.Variable)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.narrowing import narrowings
from typed_nnx_codegen.migrate.analysis.parameters import PassedArgument
from typed_nnx_codegen.migrate.analysis.syntax import parameters_of
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Collection,
    Evaluate,
    ProjectFunction,
    Scope,
    Value,
    collection,
)

TREE_MAPS: Final = frozenset({"jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"})
"""The functions that call a function with each leaf of a tree."""

TREE_LEAVES: Final = frozenset(
    {
        *("jax.tree.flatten", "jax.tree.leaves", "jax.tree_leaves"),
        *("jax.tree_util.tree_flatten", "jax.tree_util.tree_leaves"),
    }
)
"""The functions that list the leaves of a tree."""


def leaves(
    name: str, arguments: Sequence[PassedArgument], evaluate: Evaluate, scope: Scope
) -> Value:
    """Return what one of `TREE_LEAVES` gives: the leaves, or the leaves and the structure."""
    found = Collection("list", None, leaf_by_test(arguments, evaluate, scope))
    return collection("tuple", [found, UNKNOWN]) if name.endswith("flatten") else found


def leaf_by_test(arguments: Sequence[PassedArgument], evaluate: Evaluate, scope: Scope) -> Value:
    """Return what a leaf is by the test of a call; `UNKNOWN` unless it finds Variables of NNX.

    Args:
        arguments: The arguments of the call.
        evaluate: Evaluates the classes that the test names.
        scope: The scope of the call.
    """
    is_leaf = next((each.value for each in arguments if each.keyword == "is_leaf"), UNKNOWN)
    if not isinstance(is_leaf, ProjectFunction):
        return UNKNOWN
    test = _returned(is_leaf.node)
    names = [parameter.name.value for parameter in parameters_of(is_leaf.node.params)]
    if test is None or len(names) != 1:
        return UNKNOWN
    for path, value in narrowings(evaluate, test, scope, holds=True):
        if path == names[0] and derives(value, "Variable"):
            return value
    return UNKNOWN


def _returned(function: cst.FunctionDef | cst.Lambda) -> cst.BaseExpression | None:
    """Return the expression that a function of one statement returns."""
    if isinstance(function, cst.Lambda):
        return function.body
    statement: cst.CSTNode = function.body
    blocks = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine)
    while isinstance(statement, blocks):
        if len(statement.body) != 1:
            return None
        statement = statement.body[0]
    return statement.value if isinstance(statement, cst.Return) else None
