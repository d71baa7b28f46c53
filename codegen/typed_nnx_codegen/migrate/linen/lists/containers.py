"""Lists and dicts of submodules in `setup`: they become `nnx.List` and `nnx.Dict`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.writing.replacing import code_with

_LIST_NODES = (cst.List, cst.Tuple, cst.ListComp, cst.GeneratorExp)
_DICT_NODES = (cst.Dict, cst.DictComp)


def assigned_container(node: cst.BaseStatement) -> tuple[cst.BaseExpression, cst.Assign] | None:
    """Return the list or dict that a statement assigns to an attribute of the object."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return None
    small = node.body[0]
    if not isinstance(small, cst.Assign) or not isinstance(small.targets[0].target, cst.Attribute):
        return None
    if isinstance(small.value, (*_LIST_NODES, *_DICT_NODES)):
        return small.value, small
    return None


def holds(node: cst.CSTNode, sites: Mapping[cst.CSTNode, object]) -> bool:
    """Whether a submodule is constructed somewhere in an expression."""
    return any(below in sites for below in descendants(node))


def wrapped(
    node: cst.BaseExpression,
    replacements: Mapping[cst.CSTNode, str],
    sites: Mapping[cst.CSTNode, object],
    refer: Callable[[str], str],
) -> str:
    """Return the code of a list or dict of submodules as a container of NNX."""
    if not isinstance(node, (*_LIST_NODES, *_DICT_NODES)) or not holds(node, sites):
        return code_with(node, replacements)
    name = refer("nnx.List" if isinstance(node, _LIST_NODES) else "nnx.Dict")
    if isinstance(node, (cst.List, cst.Tuple)):
        items = [wrapped(one.value, replacements, sites, refer) for one in node.elements]
        return f"{name}([{', '.join(items)}])"
    if isinstance(node, cst.Dict):
        pairs = [
            f"{code_with(one.key, replacements)}: {wrapped(one.value, replacements, sites, refer)}"
            for one in node.elements
            if isinstance(one, cst.DictElement)
        ]
        return f"{name}({{{', '.join(pairs)}}})"
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        inner = {**replacements, node.elt: wrapped(node.elt, replacements, sites, refer)}
        code = code_with(node.with_changes(lpar=[], rpar=[]), inner)
        return f"{name}({code if isinstance(node, cst.ListComp) else f'[{code}]'})"
    return f"{name}({code_with(node, replacements)})"


def as_loop(
    node: cst.ListComp | cst.GeneratorExp, target: str, item: str, refer: Callable[[str], str]
) -> tuple[str, str, str]:
    """Return a comprehension as a loop: what is before it, its header and its line."""
    part = node.for_in
    header = f"for {code_of(part.target)} in {code_of(part.iter)}:"
    return f"{target} = {refer('nnx.List')}([])", header, f"{target}.append({item})"
