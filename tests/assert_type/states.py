"""`State`, `FlatState` and the functions over them."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeAlias, TypeVar, assert_type

import jax

import typed_nnx as nnx
from tests.assert_type.models import CNN, MLP

F = TypeVar("F")
Part: TypeAlias = nnx.State[Any, Any, MLP, F]
OfParams: TypeAlias = type[nnx.Param[Any]]
Numbers: TypeAlias = nnx.State[str, int, Any, Any]


def fields(state: Part[Any], numbers: Numbers) -> None:
    assert_type(state["first"], Any)
    assert_type(state.first["kernel"], Any)
    assert_type(numbers["a"], int)
    assert_type(list(numbers), list[str])
    numbers[3]  # E
    del numbers[3]  # E


def captured(model: MLP, x: jax.Array) -> None:
    """A call returns its result with a State for each type of what is captured."""
    out, found = nnx.capture(model, nnx.Intermediate)(x)
    assert_type(out, jax.Array)
    assert_type(found, nnx.State[Any, Any])
    assert_type(nnx.capture(model)(x), jax.Array)
    nnx.capture(model, nnx.Intermediate)("x")  # E: [arg-type|reportArgumentType]
    nnx.capture(model, 3)  # E


def making() -> None:
    assert_type(nnx.State({"a": 1}), nnx.State[str, Any, Any, Any])
    nnx.State(3)  # E
    nnx.State()  # E


def splitting(state: Part[Any], unknown: nnx.State, params: Part[OfParams]) -> None:
    assert_type(unknown.split(nnx.Param), nnx.State[Any, Any, Any, OfParams])
    assert_type(
        unknown.split(nnx.Param, ...),
        tuple[nnx.State[Any, Any, Any, OfParams], nnx.State[Any, Any, Any, EllipsisType]],
    )
    assert_type(params.split("head", ...), tuple[Part[str], Part[EllipsisType]])
    first, rest = state.split(nnx.Param, ...)
    assert_type((first, rest), tuple[Part[OfParams], Part[EllipsisType]])
    state.split()  # E
    nnx.split_state({"a": 1}, nnx.Param)  # E
    nnx.split_state(state)  # E
    nnx.filter_state(nnx.Param, state)  # E


def merging(params: Part[OfParams], rest: Part[EllipsisType], other: dict[str, int]) -> None:
    assert_type(nnx.State.merge(params, rest), Part[Any])
    assert_type(nnx.merge_state(params, rest), Part[Any])
    assert_type(params | rest, Part[Any])
    assert_type(params | other, Part[Any])
    assert_type(params - rest, Part[OfParams])
    assert_type(nnx.diff(params, rest), Part[OfParams])
    assert_type(nnx.merge_state(other, other), nnx.State[str, Any, Any, Any])
    assert_type(nnx.merge_state(other, other, cls=dict[str, int]), dict[str, int])
    nnx.State.merge()  # E
    nnx.State.merge(params, 3)  # E
    nnx.merge_state(3)  # E
    nnx.diff(params)  # E
    _ = params | 3  # E
    _ = params - [1]  # E


def mapping(params: Part[OfParams], numbers: Numbers) -> None:
    assert_type(params.map(lambda path, leaf: len(path)), nnx.State[Any, int, MLP, OfParams])
    assert_type(
        nnx.map_state(lambda path, leaf: len(path), params), nnx.State[Any, int, MLP, OfParams]
    )
    assert_type(numbers.map(lambda path, leaf: str(leaf)), nnx.State[str, str, Any, Any])
    numbers.map(lambda path, leaf: leaf.nothing)  # E
    numbers.map(3)  # E
    params.map(lambda leaf: leaf)  # E
    nnx.map_state(params, len)  # E


def flat(params: Part[OfParams], numbers: Numbers) -> None:
    assert_type(params.flat_state(), nnx.FlatState[Any])
    assert_type(numbers.flat_state(), nnx.FlatState[int])
    assert_type(numbers.flat_state().leaves, list[int])
    assert_type(numbers.flat_state()[0], tuple[tuple[Any, ...], int])
    assert_type(numbers.flat_state()[1:], nnx.FlatState[int])
    assert_type(nnx.to_flat_state(numbers), nnx.FlatState[int])
    assert_type(nnx.to_flat_state({"a": 1}), nnx.FlatState[Any])
    assert_type(nnx.from_flat_state(numbers.flat_state()), nnx.State)
    assert_type(nnx.from_flat_state({("a",): 1}, cls=dict[str, int]), dict[str, int])
    assert_type(nnx.State.from_flat_path({("a",): 1}), nnx.State)
    assert_type(nnx.FlatState.merge(numbers.flat_state(), numbers.flat_state()), nnx.FlatState[int])
    nnx.to_flat_state(3)  # E
    nnx.from_flat_state(3)  # E
    nnx.FlatState([])  # E
    numbers.flat_state().split()  # E
    numbers.flat_state()["a"]  # E


def nested(leaves: nnx.FlatState[nnx.Param[jax.Array]]) -> None:
    """What the leaves are does not say what the levels above them are."""
    doubled = nnx.from_flat_state({path: leaf for path, leaf in leaves if path})
    assert_type(doubled["first"]["kernel"].value, Any)
    assert_type(leaves.to_nested_state()["first"]["kernel"].value, Any)
    assert_type(nnx.State.from_flat_path(dict(leaves))["first"]["kernel"].value, Any)


def pure_dicts(numbers: Numbers) -> None:
    assert_type(numbers.to_pure_dict(), dict[str, Any])
    numbers.replace_by_pure_dict({"a": 2})
    numbers.replace_by_pure_dict(3)  # E
    nnx.replace_by_pure_dict({"a": 2}, numbers)  # E


def a_state_of_a_model_is_one_of_its_base(params: Part[OfParams]) -> None:
    of_module: nnx.State[Any, Any, nnx.Module, type[nnx.Variable[Any]]] = params
    of_any: nnx.State = params
    of_other: nnx.State[Any, Any, CNN, Any] = params  # E: [assignment|reportAssignmentType]
    of_stats: Part[type[nnx.BatchStat[Any]]] = params  # E: [assignment|reportAssignmentType]
    del of_module, of_any, of_other, of_stats


def in_jax(params: Part[OfParams], x: jax.Array) -> None:
    jax.tree.leaves(params)
    jax.tree.leaves()  # E
