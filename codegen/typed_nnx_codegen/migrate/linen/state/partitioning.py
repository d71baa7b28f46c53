"""Initializers that name the axes of a parameter for its placement on devices."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.linen.modules.classes import public_linen

_INITIALIZERS: Final = frozenset(
    {
        "flax.linen.with_partitioning",
        "flax.linen.with_logical_partitioning",
    }
)


def is_partitioning(public: str) -> bool:
    """Whether a function of Linen gives an initializer names of axes."""
    return public in _INITIALIZERS


def is_partitioning_in(node: cst.Call, analysis: Analysis) -> bool:
    """Whether a call in a file is one of such a function."""
    callee = analysis.values.get(node.func, NOT_KNOWN)
    return isinstance(callee, External) and is_partitioning(public_linen(callee.name))


def placed_later(node: cst.Call) -> cst.Call:
    """Return the call of `nnx.with_partitioning` that only names the axes, as Linen does.

    NNX would place the parameter where it is made, which needs a mesh.
    """
    if any(arg.keyword is not None and arg.keyword.value == "eager_sharding" for arg in node.args):
        return node
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    before = [
        arg.with_changes(comma=comma) if position == len(node.args) - 1 else arg
        for position, arg in enumerate(node.args)
    ]
    later = cst.Arg(cst.Name("False"), keyword=cst.Name("eager_sharding"), equal=equal)
    return node.with_changes(args=[*before, later])
