"""Errors in the transforms of the sweep: argnums, static arguments, axes, carries, branches."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plugin.sources import Edit, Mutant, Source

GRADS = ("nnx.grad", "nnx.value_and_grad", "jax.grad", "jax.value_and_grad")
JITS = ("nnx.jit", "jax.jit", "partial", "functools.partial")
MAPS = ("nnx.vmap", "jax.vmap")


def argnums(source: Source) -> Iterator[Mutant]:
    """Differentiate by an argument that the function does not have."""
    for call in source.calls(*GRADS):
        if _keyword(call, "argnums") is None and _is_plain(source, call):
            edit = _with_option(source, call, "argnums=9")
            yield source.mutant("nnx-argnums", "argnums=9", edit, call)


def new_static_names(source: Source) -> Iterator[Mutant]:
    """Let a jit without options name a static parameter that there is none of."""
    for call in source.calls("nnx.jit", "jax.jit"):
        if not call.keywords and _is_plain(source, call):
            edit = _with_option(source, call, 'static_argnames="no_such_parameter"')
            yield source.mutant("nnx-static-args", "static_argnames is added", edit, call)


def new_axes(source: Source) -> Iterator[Mutant]:
    """Let a vmap without options have one axis too many."""
    for call in source.calls(*MAPS):
        function = _function(source, call)
        if function is not None and not call.keywords and _is_plain(source, call):
            count = len(function.args.posonlyargs) + len(function.args.args)
            edit = _with_option(source, call, f"in_axes=({'0, ' * (count + 1)})")
            yield source.mutant("nnx-axes", "in_axes is added, one too many", edit, call)


def _is_plain(source: Source, call: ast.Call) -> bool:
    """Tell whether a transform is called with a known function and nothing else by position."""
    return len(call.args) == 1 and _known_function(source, call, call.args[0]) is not None


def _with_option(source: Source, call: ast.Call, option: str) -> Edit:
    return source.replaced(call.args[0], f"{source.segment(call.args[0])}, {option}")


def static_names(source: Source) -> Iterator[Mutant]:
    """Name a parameter in static_argnames or donate_argnames that there is none of."""
    for call, function in _jitted(source):
        for name in ("static_argnames", "donate_argnames"):
            option = _keyword(call, name)
            if option is None or function is None:
                continue
            for text in _constants(option.value, str):
                edit = source.replaced(text, '"no_such_parameter"')
                yield source.mutant("nnx-static-args", f"{name}: no such parameter", edit, call)
                break


def static_numbers(source: Source) -> Iterator[Mutant]:
    """Give a number in static_argnums or donate_argnums that is out of range."""
    for call, function in _jitted(source):
        for name in ("static_argnums", "donate_argnums"):
            option = _keyword(call, name)
            if option is None or function is None:
                continue
            for number in _constants(option.value, int):
                edit = source.replaced(number, "99")
                yield source.mutant("nnx-static-args", f"{name}: out of range", edit, call)
                break


def axes(source: Source) -> Iterator[Mutant]:
    """Give one axis too many."""
    for call in source.calls(*MAPS):
        option = _keyword(call, "in_axes")
        function = _function(source, call)
        if function is None or option is None or not isinstance(option.value, ast.Tuple):
            continue
        axes_ = ", ".join(source.segment(each) for each in option.value.elts)
        edit = source.replaced(option.value, f"({axes_}, 0)")
        yield source.mutant("nnx-axes", "in_axes has one axis too many", edit, call)


def bad_axis(source: Source) -> Iterator[Mutant]:
    """Give an axis that is none."""
    for call in source.calls(*MAPS):
        option = _keyword(call, "in_axes")
        for number in _constants(option.value, int) if option is not None else ():
            edit = source.replaced(number, '"batch"')
            yield source.mutant("nnx-axes", "in_axes has a text", edit, call)
            break


def carry(source: Source) -> Iterator[Mutant]:
    """Take the Carry out of the axes of a scan, and put in a second one."""
    for call in source.calls("nnx.scan"):
        option = _keyword(call, "in_axes")
        if option is None or not isinstance(option.value, ast.Tuple):
            continue
        parts = [source.segment(each) for each in option.value.elts]
        here = [each.endswith(".Carry") for each in parts]
        if sum(here) != 1:
            continue
        without = ["0" if is_carry else text for text, is_carry in zip(parts, here, strict=True)]
        both = [f"{source.nnx}.Carry", *parts[1:]] if not here[0] else [*parts[:-1], parts[0]]
        for what, texts in (("no Carry", without), ("two Carries", both)):
            if texts == parts:
                continue
            edit = source.replaced(option.value, f"({', '.join(texts)},)")
            yield source.mutant("nnx-carry", f"in_axes of scan has {what}", edit, call)


def branches(source: Source) -> Iterator[Mutant]:
    """Let one of two branches that are lambdas return a pair, where mypy knows both types."""
    for call in source.calls("jax.lax.cond", "lax.cond", "nnx.cond"):
        first, second = call.args[1:3] if len(call.args) > 2 else (None, None)
        if not isinstance(first, ast.Lambda) or not isinstance(second, ast.Lambda):
            continue
        bodies = [source.segment(each.body) for each in (first, second)]
        edit = source.replaced(first.body, f"({bodies[0]}, {bodies[0]})")
        found = source.mutant("nnx-branches", "one branch returns a pair", edit, call)
        late = source.replaced(second.body, f"reveal_type({bodies[1]})")
        text = source.text[: late.start] + late.text + source.text[late.end :]
        early = source.replaced(first.body, f"reveal_type({bodies[0]})")
        yield replace(found, probe=text[: early.start] + early.text + text[early.end :])


# -- what a transform says --------------------------------------------------------------------


def _jitted(source: Source) -> Iterator[tuple[ast.Call, ast.FunctionDef | None]]:
    for call in source.calls(*JITS):
        of_jit = call.args and ast.unparse(call.args[0]) in ("jax.jit", f"{source.nnx}.jit")
        if of_jit or "partial" not in ast.unparse(call.func):
            yield call, _function(source, call)


def _function(source: Source, call: ast.Call) -> ast.FunctionDef | None:
    """Return the function of the same file that a transform gets or decorates."""
    for node in source.walk():
        if isinstance(node, ast.FunctionDef) and call in node.decorator_list:
            # Another decorator in between may change the parameters.
            is_known = call is node.decorator_list[-1] and not _takes_anything(node.args)
            return node if is_known else None
    first = call.args[0] if call.args else None
    found = _known_function(source, call, first) if first is not None else None
    return found if isinstance(found, ast.FunctionDef) else None


def _known_function(
    source: Source, call: ast.Call, function: ast.expr
) -> ast.FunctionDef | ast.Lambda | None:
    """Return the function that a name or a lambda is, where its parameters are all known."""
    if isinstance(function, ast.Lambda):
        return function if not _takes_anything(function.args) else None
    if not isinstance(function, ast.Name):
        return None
    scope: ast.AST | None = call
    while scope is not None:
        scope = source.scope_of(scope)
        bound = source.bound(scope if scope is not None else source.tree, function.id)
        if bound:
            found = bound[0] if len(bound) == 1 else None
            if not isinstance(found, ast.FunctionDef) or found.decorator_list:
                return None
            return found if not _takes_anything(found.args) else None
    return None


def _takes_anything(arguments: ast.arguments) -> bool:
    return arguments.vararg is not None or arguments.kwarg is not None


def _keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((each for each in call.keywords if each.arg == name), None)


def _constants(node: ast.expr, kind: type) -> Iterator[ast.expr]:
    """Yield the literals of a kind that a value is or has as items."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    for each in items:
        if isinstance(each, ast.Constant) and type(each.value) is kind:
            yield each
