"""Every example of the seed document ``filters_guide.txt``.

Results are those that the document prints, in the newer spelling where NNX has changed it since:
leaves of a State print as Variables, no longer as ``VariableState``.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

from .printed import assert_printed


class Foo(nnx.Module):
    def __init__(self) -> None:
        self.a = nnx.Param(0)
        self.b = nnx.BatchStat(True)


class SpecialParam(nnx.Param):
    pass


class Bar(nnx.Module):
    def __init__(self) -> None:
        self.a = nnx.Param(0)
        self.b = SpecialParam(0)


A_AND_B = """
    params = State({
      'a': Param(
        value=0
      )
    })
    batch_stats = State({
      'b': BatchStat(
        value=True
      )
    })
"""


def split_of_the_guide(node: tp.Any, *filters: tp.Any) -> tuple[tp.Any, ...]:
    """Split as the guide rebuilds it from `flatten`, `to_predicate` and `from_flat_path`."""
    graphdef, flat_state = nnx.graph.flatten(node)
    predicates = [nnx.filterlib.to_predicate(f) for f in filters]
    groups: list[dict[tuple[nnx.graph.Key, ...], tp.Any]] = [{} for _ in predicates]
    for path, value in flat_state:
        for i, predicate in enumerate(predicates):
            if predicate(path, value):
                groups[i][path] = value
                break
        else:
            raise ValueError(f"No filter matched {path = } {value = }")
    states: tuple[tp.Any, ...] = tuple(nnx.State.from_flat_path(group) for group in groups)
    return graphdef, *states


def split_by_hand_over_the_state(node: tp.Any, *filters: tp.Any) -> tuple[tp.Any, ...]:
    """Split with the older `State.flat_state`, which the guide names too."""
    graphdef, state = nnx.split(node)
    predicates = [nnx.filterlib.to_predicate(f) for f in filters]
    groups: list[dict[tuple[nnx.graph.Key, ...], tp.Any]] = [{} for _ in predicates]
    for path, value in state.flat_state():
        i = next(i for i, predicate in enumerate(predicates) if predicate(path, value))
        groups[i][path] = value
    return graphdef, *(nnx.State.from_flat_path(group) for group in groups)


SPLITS = pytest.mark.parametrize(
    "split", [nnx.split, split_of_the_guide, split_by_hand_over_the_state]
)


@SPLITS
def test_split_groups_the_state_by_type(split: tp.Any) -> None:
    _, params, batch_stats = split(Foo(), nnx.Param, nnx.BatchStat)
    assert_printed(f"{params = }\n{batch_stats = }", A_AND_B)


@SPLITS
def test_the_first_filter_that_matches_keeps_the_value(split: tp.Any) -> None:
    _, params, special_params = split(Bar(), nnx.Param, SpecialParam)  # wrong!
    assert_printed(
        f"{params = }\n{special_params = }",
        """
        params = State({
          'a': Param(
            value=0
          ),
          'b': SpecialParam(
            value=0
          )
        })
        special_params = State({})
        """,
    )


@SPLITS
def test_the_more_special_filter_goes_first(split: tp.Any) -> None:
    _, special_params, params = split(Bar(), SpecialParam, nnx.Param)  # correct!
    assert_printed(
        f"{params = }\n{special_params = }",
        """
        params = State({
          'a': Param(
            value=0
          )
        })
        special_params = State({
          'b': SpecialParam(
            value=0
          )
        })
        """,
    )


def is_param_by_hand(path: tuple[tp.Any, ...], value: tp.Any) -> bool:
    return isinstance(value, nnx.Param) or (
        hasattr(value, "type") and issubclass(value.type, nnx.Param)
    )


@pytest.mark.parametrize("is_param", [is_param_by_hand, nnx.OfType(nnx.Param)])
def test_a_type_filter_matches_instances_and_values_whose_type_attribute_it_is(
    is_param: tp.Any,
) -> None:
    class Abstract:
        def __init__(self, variable_type: tp.Any) -> None:
            self.type = variable_type

    assert is_param((), nnx.Param(0)) is True
    assert is_param((), SpecialParam(0)) is True
    assert is_param((), Abstract(nnx.Param)) is True
    assert is_param((), Abstract(SpecialParam)) is True
    assert is_param((), Abstract(nnx.BatchStat)) is False
    assert is_param((), nnx.BatchStat(0)) is False
    assert is_param((), 0) is False


def test_to_predicate_turns_literals_into_readable_callables() -> None:
    is_param = nnx.filterlib.to_predicate(nnx.Param)
    everything = nnx.filterlib.to_predicate(...)
    nothing = nnx.filterlib.to_predicate(False)
    params_or_dropout = nnx.filterlib.to_predicate((nnx.Param, "dropout"))
    assert_printed(
        f"{is_param = }\n{everything = }\n{nothing = }\n{params_or_dropout = }",
        f"""
        is_param = OfType({nnx.Param!r})
        everything = Everything()
        nothing = Nothing()
        params_or_dropout = Any(OfType({nnx.Param!r}), WithTag('dropout'))
        """,
    )


@pytest.mark.parametrize(
    ("literal", "callable_"),
    [
        (..., nnx.Everything()),
        (True, nnx.Everything()),
        (None, nnx.Nothing()),
        (False, nnx.Nothing()),
        (nnx.Param, nnx.OfType(nnx.Param)),
        ("dropout", nnx.WithTag("dropout")),
        ((nnx.Param, "x"), nnx.Any(nnx.Param, "x")),
        ([nnx.Param, "x"], nnx.Any(nnx.Param, "x")),
        (nnx.PathContains("a"), nnx.PathContains("a")),
        (nnx.All(nnx.Param, "x"), nnx.All(nnx.Param, "x")),
        (nnx.Not(nnx.Param), nnx.Not(nnx.Param)),
    ],
    ids=repr,
)
def test_each_row_of_the_table_of_literals(literal: tp.Any, callable_: tp.Any) -> None:
    predicate = nnx.filterlib.to_predicate(literal)
    assert predicate == callable_
    assert repr(predicate) == repr(callable_)


PARAM, STAT = nnx.Param(0), nnx.BatchStat(0)
DROPOUT_KEY = nnx.RngKey(jax.random.key(0), tag="dropout")


@pytest.mark.parametrize(
    ("filter_", "path", "value", "matches"),
    [
        (nnx.Everything(), ("a",), STAT, True),
        (nnx.Nothing(), ("a",), STAT, False),
        (nnx.OfType(nnx.Param), ("a",), PARAM, True),
        (nnx.OfType(nnx.Param), ("a",), STAT, False),
        (nnx.PathContains("b"), ("a", "b", 0), STAT, True),
        (nnx.PathContains("b"), ("a", 0), STAT, False),
        (nnx.WithTag("dropout"), ("a",), DROPOUT_KEY, True),
        (nnx.WithTag("params"), ("a",), DROPOUT_KEY, False),
        (nnx.WithTag("dropout"), ("a",), PARAM, False),
        (nnx.Any(nnx.Param, nnx.PathContains("b")), ("b",), STAT, True),
        (nnx.Any(nnx.Param, nnx.PathContains("b")), ("a",), STAT, False),
        (nnx.All(nnx.Param, nnx.PathContains("b")), ("b",), PARAM, True),
        (nnx.All(nnx.Param, nnx.PathContains("b")), ("b",), STAT, False),
        (nnx.Not(nnx.Param), ("a",), STAT, True),
        (nnx.Not(nnx.Param), ("a",), PARAM, False),
    ],
)
def test_what_each_callable_of_the_table_matches(
    filter_: tp.Any, path: tuple[tp.Any, ...], value: tp.Any, matches: bool
) -> None:
    assert bool(filter_(path, value)) is matches


def test_a_type_and_a_tag_together_split_off_the_parameters_and_the_dropout_stream() -> None:
    class Noisy(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.w = nnx.Param(jnp.ones(2))
            self.mean = nnx.BatchStat(jnp.zeros(2))
            self.rngs = rngs

    model = Noisy(nnx.Rngs(params=0, dropout=1))
    mapped, rest = nnx.state(model, (nnx.Param, "dropout"), ...)
    assert sorted(path for path, _ in nnx.to_flat_state(mapped)) == [
        ("rngs", "dropout", "count"),
        ("rngs", "dropout", "key"),
        ("w",),
    ]
    assert sorted(path for path, _ in nnx.to_flat_state(rest)) == [
        ("mean",),
        ("rngs", "params", "count"),
        ("rngs", "params", "key"),
    ]
