"""Which ``x.value`` of a file are texts, as those of enums are: no Variable holds a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.node_index import NodeIndex
from typed_nnx_codegen.migrate.analysis.syntax import code_of, text_of

_OF_TEXTS: Final = frozenset(
    {"casefold", "endswith", "lower", "split", "startswith", "strip", "upper"}
)


def texts_in(nodes: NodeIndex) -> frozenset[str]:
    """Return the code of each ``x`` whose ``x.value`` the file uses as a text.

    It is compared with a text, is the key of a dict with texts as keys, is tested to be one, or has
    a method of texts called.

    Args:
        nodes: The nodes of the file.
    """
    return frozenset(
        code_of(node.value)
        for node in _texts(nodes)
        if isinstance(node, cst.Attribute) and node.attr.value == "value"
    )


def _texts(nodes: NodeIndex) -> Iterator[cst.BaseExpression]:
    for comparison in nodes.of(cst.Comparison):
        sides = [comparison.left, *(each.comparator for each in comparison.comparisons)]
        if any(_has_text(side) for side in sides):
            yield from sides
    for subscript in nodes.of(cst.Subscript):
        if isinstance(subscript.value, cst.Dict) and _has_text(subscript.value):
            indices = [each.slice for each in subscript.slice]
            yield from (index.value for index in indices if isinstance(index, cst.Index))
    for call in nodes.of(cst.Call):
        match call:
            case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=name))) if (
                name in _OF_TEXTS
            ):
                yield receiver
            case cst.Call(
                func=cst.Name(value="isinstance"),
                args=[cst.Arg(value=tested), cst.Arg(value=cst.Name(value="str"))],
            ):
                yield tested


def _has_text(node: cst.BaseExpression) -> bool:
    """Whether a node is a text, or a container that has one as an item or a key."""
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        return any(text_of(element.value) is not None for element in node.elements)
    if isinstance(node, cst.Dict):
        keys = [each.key for each in node.elements if isinstance(each, cst.DictElement)]
        return any(text_of(key) is not None for key in keys)
    return text_of(node) is not None
