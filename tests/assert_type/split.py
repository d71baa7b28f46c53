"""`split`, `state`, `pop`, `unpack` and `graphdef` of models and of what is no Module."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeAlias, TypeVar, assert_type

import jax

import typed_nnx as nnx
from tests.assert_type.models import CNN, MLP, Block, Temperature
from typed_nnx.filterlib import Filter

F = TypeVar("F")
Part: TypeAlias = nnx.State[Any, Any, MLP, F]
OfParams: TypeAlias = type[nnx.Param[Any]]
Pair: TypeAlias = tuple[MLP, CNN]


def unpacking(model: MLP) -> None:
    graphdef, state = nnx.split(model)
    assert_type(graphdef, nnx.GraphDef[MLP])
    assert_type(state, Part[Any])
    structure, params, rest = nnx.split(model, nnx.Param, ...)
    assert_type(structure, nnx.GraphDef[MLP])
    assert_type(params, Part[OfParams])
    assert_type(rest, Part[EllipsisType])
    two, parts = nnx.split(model, nnx.Param, ...)  # E: [misc|reportAssignmentType]
    one = nnx.state(model, nnx.Param, ...)
    first, second, third = one  # E: [misc|reportAssignmentType]
    assert_type((two, parts, first, second, third), Any)  # E


def options(model: MLP) -> None:
    assert_type(nnx.split(model, graph=True), tuple[nnx.GraphDef[MLP], Part[Any]])
    assert_type(nnx.state(model, nnx.Param, graph=False), Part[OfParams])
    assert_type(nnx.graphdef(model, graph=False), nnx.GraphDef[MLP])
    nnx.split(model, nnx.Param, ..., graph="no")  # E
    nnx.split(model, nnx.Param, ..., grahp=True)  # E
    nnx.state(model, filters=nnx.Param)  # E
    nnx.pop(model, nnx.Param, graph=False)  # E
    nnx.graphdef(node=model)  # E


def nodes_without_a_class_of_their_own(
    pair: Pair, models: list[MLP], named: dict[str, Block], array: jax.Array
) -> None:
    assert_type(nnx.state(pair), nnx.State[Any, Any, Pair, Any])
    assert_type(nnx.state(pair, nnx.Param), nnx.State[Any, Any, Pair, OfParams])
    assert_type(
        nnx.split(pair, nnx.Param, ...),
        tuple[
            nnx.GraphDef[Pair],
            nnx.State[Any, Any, Pair, OfParams],
            nnx.State[Any, Any, Pair, EllipsisType],
        ],
    )
    assert_type(
        nnx.split(models),
        tuple[nnx.GraphDef[list[MLP]], nnx.State[Any, Any, list[MLP], Any]],
    )
    assert_type(
        nnx.state(named, Temperature), nnx.State[Any, Any, dict[str, Block], type[Temperature]]
    )
    assert_type(nnx.graphdef(array), nnx.GraphDef[jax.Array])
    nnx.state(pair, 3)  # E


def a_variable_is_its_own_state(param: nnx.Param[jax.Array]) -> None:
    assert_type(nnx.state(param), nnx.Param[jax.Array])
    assert_type(nnx.state(param, nnx.Param), nnx.Param[jax.Array])
    assert_type(nnx.split(param), tuple[nnx.GraphDef[nnx.Param[jax.Array]], nnx.Param[jax.Array]])
    nnx.state(param, 3)  # E


def a_state_is_a_node_too(state: Part[Any]) -> None:
    assert_type(nnx.state(state, nnx.Param), nnx.State[Any, Any, Part[Any], OfParams])
    nnx.state(state, 3)  # E


def filters_of_all_kinds(model: MLP) -> None:
    assert_type(nnx.state(model, nnx.Not(nnx.Param)), Part[nnx.Not])
    assert_type(nnx.state(model, nnx.All(nnx.Param, nnx.PathContains("a"))), Part[nnx.All])
    assert_type(nnx.state(model, nnx.Any(nnx.Param, "tag")), Part[nnx.Any])
    assert_type(nnx.state(model, nnx.OfType(nnx.Param)), Part[nnx.OfType])
    assert_type(nnx.state(model, nnx.PathIn(("a",))), Part[nnx.PathIn])
    assert_type(nnx.state(model, nnx.WithTag("a")), Part[nnx.WithTag])
    assert_type(nnx.state(model, None), Part[None])
    assert_type(nnx.state(model, ...), Part[EllipsisType])
    assert_type(
        nnx.state(model, nnx.Everything(), nnx.Nothing()),
        tuple[Part[nnx.Everything], Part[nnx.Nothing]],
    )
    assert_type(
        nnx.state(model, nnx.Not(nnx.Param), nnx.BatchStat),
        tuple[Part[nnx.Not], Part[type[nnx.BatchStat[Any]]]],
    )
    assert_type(
        nnx.state(model, "tag", nnx.Param, ...),
        tuple[Part[str], Part[OfParams], Part[EllipsisType]],
    )
    nnx.state(model, lambda path, value: "a" in path)
    nnx.state(model, (nnx.Param, "tag"), [nnx.BatchStat], True)
    nnx.state(model, lambda path: True)  # E
    nnx.Not()  # E


def a_filter_of_any_kind(model: MLP, chosen: Filter) -> None:
    graphdef, taken, rest = nnx.split(model, chosen, ...)
    assert_type(nnx.merge(graphdef, taken, rest), MLP)
    nnx.split(model, chosen, 3)  # E


def filters_after_all(model: MLP, chosen: Filter) -> None:
    _, _, _ = nnx.split(model, ..., "a")  # E pyright: mypy has the check of its plugin
    _, _ = nnx.state(model).split(..., nnx.Param)  # E pyright: mypy has the check of its plugin
    graphdef, taken, rest = nnx.split(model, chosen, "a")
    assert_type(nnx.merge(graphdef, taken, rest), MLP)


def many_filters(model: MLP, filters: list[type[nnx.Param[Any]]]) -> None:
    for part in nnx.split(model, *filters)[1:]:
        assert_type(part, Part[Any])  # E mypy: it does not look into a tuple of any length
    assert_type(
        nnx.split(model, "a", "b", "c", "d", "e", "f", ...),
        tuple[nnx.GraphDef[MLP], *tuple[Part[Any], ...]],
    )


def generic_function(node: F) -> tuple[nnx.GraphDef[F], nnx.State[Any, Any, F, OfParams]]:
    graphdef, params, _ = nnx.split(node, nnx.Param, ...)
    return graphdef, params


def use_of_generic_function(model: MLP) -> None:
    assert_type(generic_function(model), tuple[nnx.GraphDef[MLP], Part[OfParams]])
    generic_function()  # E
