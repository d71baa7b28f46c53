"""Fields that hold lists or dicts of modules: they become `nnx.List` and `nnx.Dict`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectClass, options_of
from typed_nnx_codegen.migrate.linen.modules.classes import Field, LinenClass, public_linen

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
