"""Names: those that code binds, free ones, and what names of Linen become."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.name_lookup import has_name
from typed_nnx_codegen.migrate.analysis.syntax import (
    descendants,
    is_kind,
    of_kinds,
    parameters_of,
    parts_of,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, public_linen
from typed_nnx_codegen.migrate.linen.layers import find_layer

_BINDING = (
    cst.AssignTarget,
    cst.AnnAssign,
    cst.AugAssign,
    cst.NamedExpr,
    cst.For,
    cst.CompFor,
)


def bound_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that are bound below a node, each as often as it is."""
    for below in of_kinds(descendants(node), cst.Param, cst.FunctionDef, *_BINDING):
        if isinstance(below, cst.Param | cst.FunctionDef):
            yield below.name.value
        elif isinstance(below, _BINDING):
            yield from names_in(below.target)


def own_names(function: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """Return the parameters and variables of a function, without those of functions in it."""
    found = {one.name.value for one in parameters_of(function.params)}
    waiting: list[cst.CSTNode] = [function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            found.add(node.name.value)
            continue
        if isinstance(node, cst.Lambda):
            continue
        if isinstance(node, _BINDING):
            found.update(names_in(node.target))
        elif isinstance(node, cst.AsName):
            found.update(names_in(node.name))
        waiting += parts_of(node)
    return frozenset(found)


def targets_of(comprehension: cst.CompFor) -> frozenset[str]:
    """Return the names that a comprehension binds."""
    names = names_in(comprehension.target)
    inner = comprehension.inner_for_in
    return frozenset(names) | (targets_of(inner) if inner is not None else frozenset())


def names_in(target: cst.BaseExpression) -> list[str]:
    """Return the names that a target binds."""
    match target:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for element in elements for name in names_in(element.value)]
    return []


def is_plain(node: cst.CSTNode, bound: frozenset[str]) -> bool:
    """Whether an expression is a chain of attributes and numbered items of a name not bound in it."""
    while True:
        match node:
            case cst.Attribute(value=value):
                node = value
            case cst.Subscript(
                value=value,
                slice=[
                    cst.SubscriptElement(
                        cst.Index(cst.Integer() | cst.UnaryOperation(expression=cst.Integer()))
                    )
                ],
            ):
                node = value
            case _:
                return isinstance(node, cst.Name) and node.value not in bound


# Names of Linen that NNX calls differently.
_OTHERS: Final = {
    "flax.linen.Module": "nnx.Module",
    "flax.linen.haiku.Module": "nnx.Module",
    "flax.linen.initializers": "nnx.initializers",
    "flax.linen.PReLU": "nnx.PReLU",
    "flax.linen.with_logical_partitioning": "nnx.with_partitioning",
}
# Names that are in both and are not the same.
_DIFFERENT: Final = frozenset({"scan", "vmap", "jit", "remat", "cond", "switch", "while_loop"})


def nnx_name(public: str) -> str:
    """Return the name in NNX of something of Linen: `nnx.relu`; empty where there is none."""
    if public in _OTHERS:
        return _OTHERS[public]
    if not public.startswith(f"{LINEN}."):
        return ""
    name = public.removeprefix(f"{LINEN}.")
    if name.partition(".")[0] in _DIFFERENT:
        return ""
    for path in (name, f"initializers.{name}"):
        if all(has_name(runtime, path) for runtime in ("typed_nnx", "flax.nnx")):
            return f"nnx.{path}"
    return ""


def written_name(public: str) -> str:
    """Return the name in NNX of a layer or another name of Linen; empty where there is none."""
    layer = find_layer(public)
    name = layer.nnx if layer is not None else nnx_name(public)
    return name if name.startswith("nnx.") else ""


def linen_name(node: cst.CSTNode, analysis: Analysis) -> str:
    """Return the public name of what of Linen an expression names; empty where it names nothing of it.

    A parameter or an attribute of an object that holds something of Linen does not name it.
    """
    if not is_kind(type(node), cst.Name, cst.Attribute):
        return ""
    value = analysis.values.get(node, UNKNOWN)
    if not isinstance(value, External):
        return ""
    public = public_linen(value.name)
    root = node
    while isinstance(root, cst.Attribute):
        root = root.value
    if not public.startswith(f"{LINEN}.") or not isinstance(root, cst.Name):
        return ""
    scopes = (analysis.scope, *analysis.scopes.values())
    is_import = any(root.value in scope.imports for scope in scopes)
    return public if is_import or analysis.name(root.value) is not None else ""


def names_in_nnx(node: cst.CSTNode, analysis: Analysis) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Yield what an expression names of Linen and NNX has, and what NNX calls it.

    Of `nn.transforms.Target`, which NNX does not have, nothing is written differently.
    """
    waiting: list[cst.CSTNode] = [node]
    while waiting:
        one = waiting.pop()
        public = linen_name(one, analysis)
        name = written_name(public) if public else ""
        if name and isinstance(one, cst.BaseExpression):
            yield one, name
        elif not public or is_of_layer(public):
            waiting += parts_of(one)


def is_of_layer(public: str) -> bool:
    """Whether a public name is that of an attribute of a layer: `nn.LSTMCell.initialize_carry`."""
    return find_layer(public.rpartition(".")[0]) is not None


_LETTERS: Final = "ijklmnopq"


def name_pattern(node: cst.BaseExpression) -> str | None:
    """Return the text of a name with `{i}` for each part that is computed.

    None where the expression may be something else than a text, such as None.
    """
    parts = _parts(node)
    if parts is None:
        return None
    letters = iter(_LETTERS * len(parts))
    return "".join(f"{{{next(letters)}}}" if part is None else part for part in parts)


def _parts(node: cst.BaseExpression) -> list[str | None] | None:
    """Return the pieces of a text, None for one that is computed."""
    match node:
        case cst.SimpleString():
            text = node.evaluated_value
            return [text] if isinstance(text, str) else None
        case cst.FormattedString(parts=parts):
            return [
                part.value if isinstance(part, cst.FormattedStringText) else None for part in parts
            ]
        case cst.Call(func=cst.Name(value="str"), args=[_]):
            return [None]
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            one, other = _parts(left), _parts(right)
            if one is None and other is None:
                return None
            # Only a text can be added to a text.
            return [*(one or [None]), *(other or [None])]
    return None


def may_be_alike(one: str, other: str) -> bool:
    """Whether two patterns may be the same text."""
    first, second = (re.split(r"\{\w+\}", text) for text in (one, other))
    heads, tails = (first[0], second[0]), (first[-1], second[-1])
    if not heads[0].startswith(heads[1]) and not heads[1].startswith(heads[0]):
        return False
    return tails[0].endswith(tails[1]) or tails[1].endswith(tails[0])


def snake_case(name: str) -> str:
    """Return a class name as the name of an attribute: `ResNetBlock` is `res_net_block`."""
    # An attribute that begins with two underscores has another name outside of its class.
    text = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name.lstrip("_"))
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()
