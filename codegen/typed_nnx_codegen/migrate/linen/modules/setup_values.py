"""Values that `setup` assigns to attributes, as NNX holds them: lists of submodules, and none yet."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from typed_nnx_codegen.migrate.linen.names.site_names import sites_in
from typed_nnx_codegen.migrate.linen.running.references import Repeated, SelfValue
from typed_nnx_codegen.migrate.linen.running.values import Seq, Table, Value


def held_values(
    node: cst.BaseStatement,
    instance: SelfValue,
    code: Callable[[cst.CSTNode], str],
    refer: Callable[[str], str],
) -> dict[cst.CSTNode, str]:
    """Return other code for what a statement of `setup` assigns to attributes of the object.

    Args:
        node: The statement.
        instance: The object.
        code: Writes an expression.
        refer: Spells a public name.
    """
    if not isinstance(node, cst.SimpleStatementLine):
        return {}
    found: dict[cst.CSTNode, str] = {}
    for small in node.body:
        match small:
            case cst.Assign(
                targets=[
                    cst.AssignTarget(
                        target=cst.Attribute(cst.Name(), cst.Name(value=name)) as target
                    )
                ],
                value=value,
            ):
                held = instance.attributes.get(name)
                kind = _kind(value, held) if held is not None and sites_in(held) else ""
                if target in instance.replaced:
                    # What an attribute holds first decides for NNX what it is.
                    kind = "nnx.data" if instance.replaced[target] else "nnx.static"
                if kind:
                    found[value] = f"{refer(kind)}({code(value)})"
    return found


def _kind(node: cst.BaseExpression, held: Value) -> str:
    """Return what holds a value in NNX; empty where it is assigned as it is written."""
    match node:
        case cst.Name(value="None"):
            # The attribute is one that may hold arrays from the start.
            return "nnx.data"
        case cst.Name() | cst.Call():
            if isinstance(held, (Seq, Repeated)):
                return "nnx.List"
            return "nnx.Dict" if isinstance(held, Table) else ""
    return ""
