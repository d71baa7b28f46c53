"""Arguments that are lists of arrays, such as those of skip connections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, is_name
from typed_nnx_codegen.migrate.linen.lists.size_lists import ARRAY, SizedList
from typed_nnx_codegen.migrate.linen.modules.classes import Method
from typed_nnx_codegen.migrate.linen.running.consumed import is_consumed
from typed_nnx_codegen.migrate.linen.running.frames import Frame

_LISTS: Final = re.compile(r"(\w+\.)*(Sequence|[Ll]ist|[Tt]uple|Iterable)\b")
_ARRAYS: Final = re.compile(r"[Aa]rray|[Tt]ensor")
_CHANGING: Final = frozenset({"append", "insert", "pop"})
# Functions that go over a list, or make another one of it.
_GOING_OVER: Final = frozenset({"zip", "enumerate", "reversed", "list", "tuple", "len"})


def given_list(name: str, frame: Frame) -> SizedList:
    """Return a list of arrays that a method is called with: the constructor is told their sizes."""
    recorder = frame.recorder
    local = recorder.fresh(f"{name}_sizes")
    recorder.write(f"{local} = list({recorder.templates.items_token(name)})", local)
    return SizedList(ARRAY, local=local)


def is_list(parameter: cst.Param, method: Method) -> bool:
    """Whether a parameter is a list of arrays: by its type, or by what its method does with it.

    A list whose items are only read by literal places is left out: they are arguments like others.

    Args:
        parameter: The parameter.
        method: The method.
    """
    name = parameter.name.value
    annotation = parameter.annotation
    text = "" if annotation is None else code_of(annotation.annotation).strip("\"'")
    is_said = _LISTS.match(text) is not None and _ARRAYS.search(text) is not None
    if is_consumed(name, method.node) or any(_is_changed(one, name) for one in _below(method)):
        return True
    if text and not is_said:
        return False
    uses = set(_uses(method, anywhere=is_said))
    if any(is_name(one, name) and one not in uses for one in _below(method)):
        return False
    return any(
        _is_over(one, name) or (is_said and _is_item_of(one, name)) for one in _below(method)
    )


def _below(method: Method) -> Iterator[cst.CSTNode]:
    return descendants(method.node.body)


def _uses(method: Method, *, anywhere: bool) -> Iterator[cst.CSTNode]:
    """Yield where names stand as lists may.

    Args:
        method: The method.
        anywhere: Whether any function may be called with them.
    """
    for node in _below(method):
        match node:
            case cst.Attribute(attr=cst.Name() as attribute):
                yield attribute
            case cst.Arg(keyword=cst.Name() as keyword):
                yield keyword
            case cst.Subscript(value=cst.Name() as owner, slice=[_]):
                yield owner
            case cst.Call(func=function, args=args):
                if anywhere or code_of(function) in _GOING_OVER:
                    yield from (one.value for one in args)
            case cst.For(iter=cst.Name() as iterated) | cst.CompFor(iter=cst.Name() as iterated):
                yield iterated
            case cst.AssignTarget(target=cst.Name() as target):
                yield target


def _is_changed(node: cst.CSTNode, name: str) -> bool:
    """Whether a call takes an item off a list, or adds one."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=method)), args=args
        ):
            is_key = any(isinstance(one.value, cst.SimpleString) for one in args)
            return owner == name and method in _CHANGING and not is_key
    return False


def _is_over(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is a loop over a name, with or without others."""
    return isinstance(node, cst.For | cst.CompFor) and _goes_over(node.iter, name)


def _goes_over(node: cst.BaseExpression, name: str) -> bool:
    match node:
        case cst.Call(func=cst.Name(value=function), args=args) if function in _GOING_OVER:
            return any(_goes_over(one.value, name) for one in args)
        case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return _goes_over(inner, name)
    return is_name(node, name)


def _is_item_of(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is an item of a name, or some, of which no number says which."""
    match node:
        case cst.Subscript(
            value=cst.Name(value=owner), slice=[cst.SubscriptElement(slice=cst.Index(value=index))]
        ):
            return owner == name and any(isinstance(one, cst.Name) for one in descendants(index))
        case cst.Subscript(value=cst.Name(value=owner)):
            return owner == name
    return False
