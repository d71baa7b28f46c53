"""Errors in the use of States, with the models of the sweep.

Where code of the sweep splits a model, its class is often a parameter without a type. So functions
that use a model of the file are added to its end, each with one error.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.plugin.sources import LAYERS, VARIABLES, Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.plugin.sources import Mutant, Source


@dataclass(frozen=True)
class Use:
    """Lines that use a model with an error in the last one.

    Attributes:
        code: The error code that is expected.
        what: What is planted, in words.
        lines: The body of a function with a parameter ``model``.
    """

    code: str
    what: str
    lines: tuple[str, ...]


def uses(source: Source) -> Iterator[Mutant]:
    """Add functions that use the models of a file, each with an error in its last line."""
    for model in source.models:
        known = [each for each in source.attributes if each.owner is model]
        layers = [(each.name, source.made(each.value)) for each in known]
        layers = [(name, made) for name, made in layers if made in LAYERS | VARIABLES]
        if not layers or not _is_closed(model):
            continue
        static = [
            each.name
            for each in known
            if isinstance(each.value, ast.Constant) and isinstance(each.value.value, int | str)
        ]
        for use in _uses(source.nnx, model.name, layers, static):
            yield _added(source, model.name, use)


def _is_closed(model: ast.ClassDef) -> bool:
    """Tell whether only ``self.name = ...`` gives the objects attributes."""
    text = ast.unparse(model)
    return not any(each in text for each in ("setattr", "__getattr__", ".sow(", ".perturb("))


def _uses(nnx: str, model: str, layers: list[tuple[str, str]], static: list[str]) -> Iterator[Use]:
    name, made = layers[0]
    kind = made if made in VARIABLES else "Param"
    yield Use("nnx-state-key", "state[missing]", (f'{nnx}.state(model)["no_such_key"]',))
    yield Use("nnx-state-key", "state.missing", (f"{nnx}.state(model).no_such_key",))
    yield Use(
        "nnx-state-key",
        "the key of a part is missing",
        (f"_, part, rest = {nnx}.split(model, {nnx}.Param, ...)", 'rest["no_such_key"]'),
    )
    if kind in ("Param", "BatchStat", "Cache"):
        other = "BatchStat" if kind != "BatchStat" else "Cache"
        excluded = f'{nnx}.state(model, {nnx}.{other})["{name}"]'
        if made != "BatchNorm":
            yield Use("nnx-state-excluded", "a field of another filter", (excluded,))
        covered = f"{nnx}.split(model, {nnx}.{other})"
        yield Use("nnx-filter-coverage", "split by one other filter", (covered,))
    for each in static[:1]:
        yield Use("nnx-state-excluded", "a static field", (f'{nnx}.state(model)["{each}"]',))
    yield Use("nnx-filter-order", "`...` first", (f"{nnx}.split(model, ..., {nnx}.Param)",))
    yield Use(
        "nnx-filter-order",
        "a filter of what was taken before",
        (f"{nnx}.split(model, {nnx}.Variable, {nnx}.Param, ...)",),
    )
    other_model = (
        f"class Other({nnx}.Module):",
        "    def __init__(self) -> None:",
        f"        self.planted = {nnx}.Linear(1, 1, rngs={nnx}.Rngs(0))",
        "other = Other()",
    )
    update = f"{nnx}.update(model, {nnx}.state(other))"
    yield Use("nnx-state-mismatch", "update with another model", (*other_model, update))
    graphdef = f"graphdef, state = {nnx}.split(model)"
    merge = f"{nnx}.merge(graphdef, {nnx}.state(other))"
    yield Use("nnx-state-mismatch", "merge with another model", (*other_model, graphdef, merge))
    yield Use(
        "nnx-state-missing",
        "merge without the rest",
        (
            f"graphdef, part = {nnx}.split(model, ...)",
            f"caches = {nnx}.state(model, {nnx}.Cache)",
            f"{nnx}.merge(graphdef, caches)",
        ),
    )
    yield from _training(nnx, model, kind)
    yield from _lost(nnx)
    yield from _deprecated(nnx, *layers[0])


def _training(nnx: str, model: str, kind: str) -> Iterator[Use]:
    wrt = kind if kind in ("Param", "BatchStat", "Cache") else "Param"
    other = "BatchStat" if wrt != "BatchStat" else "Cache"
    optimizer = f"optimizer = {nnx}.Optimizer(model, optax.sgd(0.1), wrt={nnx}.{wrt})"
    yield Use(
        "nnx-optimizer-wrt",
        "gradients by another filter",
        (
            "import optax",
            optimizer,
            *_loss(model),
            f"part = {nnx}.DiffState(0, {nnx}.{other})",
            f"grads = {nnx}.grad(loss, argnums=part)(model)",
            "optimizer.update(model, grads)",
        ),
    )
    yield Use(
        "nnx-optimizer-wrt",
        "gradients of another model",
        (
            "import optax",
            optimizer,
            f"other = {nnx}.Linear(1, 1, rngs={nnx}.Rngs(0))",
            *_loss(f"{nnx}.Linear"),
            f"grads = {nnx}.grad(loss)(other)",
            "optimizer.update(model, grads)",
        ),
    )


def _deprecated(nnx: str, name: str, made: str) -> Iterator[Use]:
    written = f"model.{name}" if made in VARIABLES else f"model.{name}.kernel"
    if made in VARIABLES or made in ("Conv", "Einsum", "Linear", "LinearGeneral"):
        yield Use("nnx-deprecated", "variable.value of a layer", (f"{written}.value",))
    for method in ("flat_state", "to_pure_dict"):
        use = f"{nnx}.state(model).{method}()"
        yield Use("nnx-deprecated", "a method of State", (use,))
    yield Use("nnx-deprecated", "a method of Module", ("list(model.iter_modules())",))


def _loss(model: str) -> tuple[str, str]:
    # Without a type of the parameter the gradients have none either.
    return f"def loss(m: {model}) -> float:", "    return 1.0"


def _lost(nnx: str) -> Iterator[Use]:
    change = "jax.tree.map(lambda x: x * 2, state)"
    taken = f"state = {nnx}.state(model)"
    yield Use("nnx-lost-update", "a discarded copy", ("import jax", taken, change))
    yield Use(
        "nnx-lost-update", "a changed State, not used", ("import jax", taken, f"state = {change}")
    )


def _added(source: Source, model: str, use: Use) -> Mutant:
    lines = [f"def planted(model: {model}) -> None:", *(f"    {each}" for each in use.lines)]
    end = len(source.text)
    text = "\n\n\n" + "\n".join(lines) + "\n"
    found = source.mutant(use.code, use.what, Edit(end, end, text))
    last = found.lines[1] - 1
    return type(found)(found.code, found.planter, found.path, found.text, (last, last))


# -- real code --------------------------------------------------------------------------------


def swapped_filters(source: Source) -> Iterator[Mutant]:
    """Put the ``...`` of a split, state or pop in front of the other filters."""
    for call in source.calls("nnx.split", "nnx.state", "nnx.pop"):
        filters = [source.segment(each) for each in call.args[1:]]
        if len(filters) > 1 and filters[-1] == "...":
            edit = _with_filters(source, call, ["...", *filters[:-1]])
            yield source.mutant("nnx-filter-order", "`...` first, in real code", edit, call)
        elif filters and "..." not in filters and not any("*" in each for each in filters):
            edit = _with_filters(source, call, ["...", *filters])
            yield source.mutant("nnx-filter-order", "`...` first, in real code", edit, call)


def _with_filters(source: Source, call: ast.Call, filters: list[str]) -> Edit:
    start, end = source.span(call.args[1])[0], source.span(call.args[-1])[1]
    return Edit(start, end, ", ".join(filters))


def lost_updates(source: Source) -> Iterator[Mutant]:
    """Leave out ``nnx.update`` around what changes a State."""
    for call in source.calls("nnx.update"):
        if len(call.args) == 2 and isinstance(call.args[1], ast.Call):
            name = ast.unparse(call.args[1].func)
            if name in ("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"):
                edit = source.replaced(call, source.segment(call.args[1]))
                yield source.mutant("nnx-lost-update", "nnx.update left out", edit, call)


PLANTERS: tuple[Callable[[Source], Iterator[Mutant]], ...] = (uses, swapped_filters, lost_updates)
