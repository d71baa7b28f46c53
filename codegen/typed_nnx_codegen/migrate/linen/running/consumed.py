"""Arguments that a loop takes one item after the other from: tuples of arrays, and no array."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants


def is_consumed(name: str, node: cst.FunctionDef) -> bool:
    """Whether a loop of a method takes an item of an argument, and goes on with the others.

    ``last = skips[-1]`` and ``skips = skips[:-1]``: the items are arrays, and each one may have
    another size. Were it an array, nothing would be known either, as its length tells the loop.

    Args:
        name: The argument.
        node: The method.
    """
    return any(
        _shortens(name, loop) and _takes_item(name, loop)
        for loop in descendants(node.body)
        if isinstance(loop, (cst.For, cst.While))
    )


def _shortens(name: str, loop: cst.For | cst.While) -> bool:
    """Whether a loop gives a name all but some of its items."""
    for below in descendants(loop.body):
        match below:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=target))],
                value=cst.Subscript(
                    value=cst.Name(value=source), slice=[cst.SubscriptElement(slice=cst.Slice())]
                ),
            ) if target == source == name:
                return True
    return False


def _takes_item(name: str, loop: cst.For | cst.While) -> bool:
    """Whether a loop reads one item of a name, by a number."""
    for below in descendants(loop.body):
        match below:
            case cst.Subscript(
                value=cst.Name(value=source),
                slice=[
                    cst.SubscriptElement(
                        slice=cst.Index(value=cst.Integer() | cst.UnaryOperation())
                    )
                ],
            ) if source == name:
                return True
    return False
