"""Lists and dicts of modules in fields and in `setup`: they become `nnx.List` and `nnx.Dict`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectClass, options_of
from typed_nnx_codegen.migrate.linen.domain.classes import Field, LinenClass, public_linen
from typed_nnx_codegen.migrate.linen.domain.code import code_with

LIST: Final = "nnx.List"
DICT: Final = "nnx.Dict"
_LISTS: Final = frozenset({"Sequence", "List", "Tuple", "list", "tuple", "Iterable", "Collection"})
_DICTS: Final = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "FrozenDict"})

_ARRAYS: Final = frozenset({"ndarray", "Array", "DeviceArray", "ArrayLike", "ArrayTree"})


def held_containers(cls: LinenClass) -> dict[str, str]:
    """Return the fields that hold containers of modules, and what the containers become."""
    found: dict[str, str] = {}
    called = _called(cls)
    for one in cls.fields():
        kind = _kind(one)
        if one.name in called:
            found[one.name] = kind or called[one.name]
        elif kind and _names_module(one):
            found[one.name] = kind
    return found


def holds_arrays(one: Field, *, is_of_call: bool = False) -> bool:
    """Whether a field holds a tuple, list or dict of arrays, by its type.

    Args:
        one: The field.
        is_of_call: Whether methods of others give it what they compute.
    """
    return bool(_kind(one)) and (is_of_call or _names_array(one))


def _names_array(one: Field) -> bool:
    return any(
        isinstance(node, (cst.Name, cst.Attribute)) and _last(node) in _ARRAYS
        for node in descendants(one.annotation.annotation)
    )


def may_be_none(one: Field) -> bool:
    """Whether a field may be None."""
    text = cst.Module([]).code_for_node(one.annotation.annotation)
    match one.default:
        case cst.Name(value="None"):
            return True
    return "Optional" in text or "None" in text


def _kind(one: Field) -> str:
    """Return what the type of a field says of the container that it holds; empty for nothing."""
    annotation = one.annotation.annotation
    if isinstance(annotation, cst.Subscript) and _last(annotation.value) == "Optional":
        inner = annotation.slice[0].slice
        if isinstance(inner, cst.Index):
            annotation = inner.value
    if isinstance(annotation, cst.Subscript):
        annotation = annotation.value
    name = _last(annotation)
    return LIST if name in _LISTS else DICT if name in _DICTS else ""


def _last(node: cst.BaseExpression) -> str:
    return dotted(node).rpartition(".")[2]


def _names_module(one: Field) -> bool:
    """Whether the type of a field has a class of modules in it; not `Type[nn.Module]`."""
    analysis = one.owner.analysis
    for node in descendants(one.annotation.annotation):
        if isinstance(node, cst.Subscript) and _last(node.value) in ("Type", "type", "Callable"):
            return False
        for option in options_of(analysis.values.get(node, UNKNOWN)):
            if isinstance(option, External) and public_linen(option.name) == "flax.linen.Module":
                return True
            if isinstance(option, ProjectClass) and any(
                _last(arg.value) == "Module" for arg in option.node.bases
            ):
                return True
    return False


def _called(cls: LinenClass) -> dict[str, str]:
    """Return the fields whose items methods call, and what kind of container that looks like."""
    found: dict[str, str] = {}
    names = {one.name for one in cls.fields()}
    for method in cls.methods().values():
        for node in descendants(method.node):
            for field, kind in _items_called(node):
                if field in names:
                    found.setdefault(field, kind)
    return found


def _items_called(node: cst.CSTNode) -> Iterator[tuple[str, str]]:
    match node:
        case cst.For(target=target, iter=over, body=body):
            yield from _looped(target, over, [body])
        case cst.ListComp(elt=elt, for_in=part) | cst.GeneratorExp(elt=elt, for_in=part):
            yield from _looped(part.target, part.iter, [elt])
        case cst.DictComp(key=key, value=value, for_in=part):
            yield from _looped(part.target, part.iter, [key, value])
        case cst.Call(func=cst.Subscript(value=base, slice=[cst.SubscriptElement(slice=index)])):
            name = _field_name(base)
            if name:
                is_text = isinstance(index, cst.Index) and isinstance(
                    index.value, (cst.SimpleString, cst.FormattedString)
                )
                yield name, DICT if is_text else LIST


def _looped(
    target: cst.BaseAssignTargetExpression, over: cst.BaseExpression, bodies: list[cst.CSTNode]
) -> Iterator[tuple[str, str]]:
    names = {one.value for one in (target, *descendants(target)) if isinstance(one, cst.Name)}
    built = {
        one.func
        for body in bodies
        for one in (body, *descendants(body))
        if isinstance(one, cst.Call) and isinstance(one.func, cst.Call)
    }
    is_called = any(
        isinstance(one, cst.Call)
        and one not in built
        and isinstance(one.func, cst.Name)
        and one.func.value in names
        for body in bodies
        for one in (body, *descendants(body))
    )
    if not is_called:
        return
    for one in (over, *descendants(over)):
        match one:
            case cst.Attribute(value=base, attr=cst.Name(value="items" | "values")):
                name = _field_name(base)
                if name:
                    yield name, DICT
        name = _field_name(one)
        if name:
            yield name, LIST


def _field_name(node: cst.CSTNode) -> str:
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
    return ""


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
