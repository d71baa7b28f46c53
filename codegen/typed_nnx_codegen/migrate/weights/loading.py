"""`load`: fills a model with Linen variables, or says all that is in the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax

from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps, Map, class_maps
from typed_nnx_codegen.migrate.weights.fitting import Fitting
from typed_nnx_codegen.migrate.weights.models import (
    Slot,
    has_counterpart,
    is_module,
    value_of,
    variables_of,
)
from typed_nnx_codegen.migrate.weights.placing import Placement, Placer
from typed_nnx_codegen.migrate.weights.problems import Problems, WeightsError
from typed_nnx_codegen.migrate.weights.sources import Source, read
from typed_nnx_codegen.migrate.weights.trees import Tree, leaves_of, shape_text


@dataclass(frozen=True)
class Loaded:
    """What `load` did.

    Attributes:
        filled: The attribute paths that were filled.
        cast: The values that were cast to the dtype of the model, in words.
        missing: The Variables that nothing filled, with dtype and shape; none where strict.
        extra: The Linen variables that went nowhere, and why; none where strict.
        dropped: The Linen variables that the map gives no place on purpose.
    """

    filled: tuple[str, ...]
    cast: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    dropped: tuple[str, ...]


def load(
    linen_variables: Source,
    model: Any,
    map: Map | list[Map] | tuple[Map, ...] = (),  # noqa: A002 - the name that callers write
    *,
    class_name: str | None = None,
    strict: bool = True,
) -> Loaded:
    """Load the variables of a Linen model into its migrated model, in place.

    After an error the model is unchanged. Where the dtypes differ, floats are cast to floats and
    integers to integers; the result lists what was cast.

    Args:
        linen_variables: What `init` returned, by collection, boxed or not; or the path of an orbax
            checkpoint folder, the path of a msgpack file, or msgpack bytes.
        model: The model. Its Variables may be abstract, as `nnx.eval_shape` makes them.
        map: The map that the codemod wrote, its path, or several. Without one, and for classes
            that none of them has, the map beside the file of the class is used.
        class_name: The name of the model's class in the map, if it is another one.
        strict: Raise an error for Variables that nothing fills and Linen variables without a
            place. Variables of random numbers and sown values need no filling.

    Raises:
        WeightsError: Something does not fit; the message lists all of it.
        WeightMapError: The map cannot be read.
    """
    return load_with(linen_variables, model, class_maps(map), class_name=class_name, strict=strict)


def load_with(
    linen_variables: Source,
    model: Any,
    maps: ClassMaps,
    *,
    class_name: str | None = None,
    strict: bool = True,
) -> Loaded:
    """Fill a model as `load` does, with maps that were read before.

    Raises:
        WeightsError: Something does not fit; the message lists all of it.
    """
    if not is_module(model):
        raise WeightsError(
            f"load: the model is a {type(model).__name__}.\n"
            "  Fix: an instance of a module of typed_nnx or flax.nnx"
        )
    variables = read(linen_variables)
    problems = Problems()
    placer = placed(leaves_of(variables), model, maps, problems, class_name)
    _check_collections(variables, placer, maps, model, class_name)
    fitting = Fitting(problems)
    values = [(each, fitting.fitted(each)) for each in placer.placements]
    _check_twice(values, problems)
    problems.missing += _missing(model, placer.placements)
    if problems.fatal(strict=strict):
        raise WeightsError(problems.text(type(model).__name__, strict=strict))
    for placement, value in values:
        placement.slot.fill(value)
    return Loaded(
        tuple(each.slot.path for each, _ in values),
        tuple(fitting.cast),
        tuple(problems.missing),
        tuple(problems.extra),
        tuple(placer.dropped),
    )


def placed(
    tree: Tree, model: Any, maps: ClassMaps, problems: Problems, class_name: str | None = None
) -> Placer:
    """Return where the Linen variables of a model go."""
    placer = Placer(maps, problems)
    placer.place(tree, Slot("", None, None, model), class_name)
    return placer


def _check_collections(
    variables: dict[str, Any], placer: Placer, maps: ClassMaps, model: Any, class_name: str | None
) -> None:
    """Say it where the content of `params` was given instead of variables by collection."""
    if placer.placements or placer.dropped or not variables:
        return
    entries = maps.entries(type(model), class_name)
    known = {path.partition("/")[0] for each in entries for path in each.variables} | {"params"}
    if known.isdisjoint(variables):
        raise WeightsError(
            f"load: the keys of the Linen variables are {sorted(map(str, variables))}, "
            f"the collections {sorted(known)} are expected.\n"
            '  Fix: load({"params": params}, ...)'
        )


def _check_twice(values: list[tuple[Placement, Any]], problems: Problems) -> None:
    first: dict[object, tuple[Placement, Any]] = {}
    for placement, value in values:
        other, known = first.setdefault(placement.slot.identity, (placement, value))
        if other is not placement and not _equal(known, value):
            problems.twice.append(f"{placement.slot.path}: {other.linen} and {placement.linen}")


def _equal(one: Any, other: Any) -> bool:
    same = jax.tree.map(lambda x, y: bool((x == y).all()), one, other)
    return jax.tree.all(same)


def _missing(model: Any, placements: list[Placement]) -> list[str]:
    filled = {each.slot.identity for each in placements}
    return [
        f"{'.'.join(map(str, keys))} {type(variable).__name__} {shape_text(value_of(variable))}"
        for keys, variable in variables_of(model)
        if id(variable) not in filled and has_counterpart(variable)
    ]
