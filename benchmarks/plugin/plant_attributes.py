"""Errors in what the models of the sweep put into their attributes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plugin.sources import Attribute, Mutant, Source


def static_data(source: Source) -> Iterator[Mutant]:
    """Mark layers and Variables as static, alone and in containers."""
    for each in _layers(source):
        value = source.segment(each.value)
        for text in (value, f"[{value}]", f'{{"a": ({value}, 1)}}'):
            edit = source.replaced(each.value, f"{source.nnx}.static({text})")
            yield source.mutant("nnx-static-data", "self.x = nnx.static(layer)", edit)


def plain_container(source: Source) -> Iterator[Mutant]:
    """Put layers and Variables into plain containers."""
    for each in _layers(source):
        value = source.segment(each.value)
        for text in (f"[{value}]", f"({value}, 2)", f'{{"a": {value}}}', f'{{"a": [{value}]}}'):
            edit = source.replaced(each.value, text)
            yield source.mutant("nnx-plain-container", "self.x = [layer]", edit)


def no_list(source: Source) -> Iterator[Mutant]:
    """Leave out ``nnx.List`` and ``nnx.Dict`` around the layers of a model."""
    for call in source.calls("nnx.List", "nnx.Dict", "nnx.data"):
        if len(call.args) != 1 or call.keywords:
            continue
        if not isinstance(call.args[0], ast.List | ast.ListComp | ast.DictComp | ast.Dict):
            continue
        for each in source.attributes:
            if each.value is call and any(source.made(n) for n in _calls_in(call)):
                edit = source.replaced(call, source.segment(call.args[0]))
                yield source.mutant("nnx-plain-container", "nnx.List([layer]) without List", edit)


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def misplaced_mark(source: Source) -> Iterator[Mutant]:
    """Put ``nnx.data`` where it marks nothing: in a container, a local variable, a call."""
    for each in _layers(source):
        value, nnx = source.segment(each.value), source.nnx
        texts = (f"[{nnx}.data({value})]", f'{{"a": {nnx}.data({value})}}')
        for text in texts:
            edit = source.replaced(each.value, text)
            yield source.mutant("nnx-misplaced-mark", "self.x = [nnx.data(layer)]", edit)
        edit = source.after(each.statement, [f"planted = {nnx}.data([1])"])
        yield source.mutant("nnx-misplaced-mark", "x = nnx.data(...)", edit)


def data_status(source: Source) -> Iterator[Mutant]:
    """Assign data to an attribute that is static: a number or text, or a parameter of such a type."""
    for each in source.attributes:
        parameters = each.method.args.args + each.method.args.kwonlyargs
        static = {a.arg for a in parameters if a.annotation and _is_static(a.annotation)}
        is_static = isinstance(each.value, ast.Name) and each.value.id in static
        if not is_static and not isinstance(each.value, ast.Constant):
            continue
        if isinstance(each.value, ast.Constant) and not isinstance(each.value.value, int | str):
            continue
        if isinstance(each.method.body[-1], ast.Return):
            continue
        planted = f"self.{each.name} = {source.nnx}.Param(1.0)  # type: ignore[assignment]"
        edit = source.after(each.method.body[-1], [planted])
        yield source.mutant("nnx-data-status", "a number, then a Variable", edit)


def _is_static(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id in ("int", "str", "bool", "float")


def jax_mutation(source: Source) -> Iterator[Mutant]:
    """Change a layer or Variable of the model in a function under a jax transform."""
    if not source.imports("import jax"):
        return
    for each in _layers(source):
        made = source.made(each.value)
        changed = {
            "Linear": f"self.{each.name}.kernel[...] = x",
            "Conv": f"self.{each.name}.kernel[...] = x",
            "Embed": f"self.{each.name}.embedding[...] = x",
            "Param": f"self.{each.name}[...] = x",
            "Variable": f"self.{each.name}[...] = x",
            "BatchStat": f"self.{each.name}[...] += x",
            "Cache": f"self.{each.name}[...] = x",
        }.get(made)
        if changed is None:
            continue
        lines = [
            "",
            "@jax.jit",
            "def planted(x):",
            f"    {changed}",
            "    return x",
            "planted(1.0)",
        ]
        edit = source.after(each.method.body[-1], lines)
        yield source.mutant("nnx-jax-mutation", "a jitted function changes self.x", edit)
        lines = ["", f"def planted(x):\n{' ' * 12}{changed}\n{' ' * 12}return x"]
        lines += ["jax.grad(planted)(1.0)"]
        edit = source.after(each.method.body[-1], lines)
        yield source.mutant("nnx-jax-mutation", "a function under jax.grad changes self.x", edit)


def _layers(source: Source) -> Iterator[Attribute]:
    for each in source.attributes:
        if source.made(each.value):
            yield each
