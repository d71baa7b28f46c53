"""Filters: the literal language, its laws, its texts, and flax.nnx on the same values."""

from __future__ import annotations

import copy
import itertools
import pickle
import types
import typing as tp

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.support.peer import (
    Scenario,
    assert_as_in_flax,
    assert_refused_as_in_flax,
    both_libraries,
    scenarios,
)

PATHS: list[tuple[tp.Any, ...]] = [(), ("a",), ("a", 0), (0, "layers", "kernel"), ("kern", 1)]
VALUES: list[tp.Callable[[tp.Any], tp.Any]] = [
    lambda nnx: nnx.Param(1),
    lambda nnx: nnx.LoRAParam(1),
    lambda nnx: nnx.BatchStat(1, tag="dropout"),
    lambda nnx: nnx.Perturbation(1),
    lambda nnx: nnx.Rngs(0).params.key,
    lambda nnx: jnp.ones(2),
    lambda nnx: 5,
    lambda nnx: None,
    lambda nnx: nnx.List([]),
]
LEAVES: dict[str, tp.Callable[[tp.Any], tp.Any]] = {
    "Param": lambda nnx: nnx.Param,
    "Variable": lambda nnx: nnx.Variable,
    "Intermediate": lambda nnx: nnx.Intermediate,
    "RngState": lambda nnx: nnx.RngState,
    "Module": lambda nnx: nnx.Module,
    "int": lambda nnx: int,
    "array": lambda nnx: jax.Array,
    "dots": lambda nnx: ...,
    "True": lambda nnx: True,
    "False": lambda nnx: False,
    "None": lambda nnx: None,
    "tag": lambda nnx: "dropout",
    "default tag": lambda nnx: "params",
    "contains text": lambda nnx: nnx.PathContains("kernel"),
    "contains number": lambda nnx: nnx.PathContains(0),
    "contains part": lambda nnx: nnx.PathContains("kern", exact=False),
    "function": lambda nnx: lambda path, value: len(path) == 2,
    "WithTag": lambda nnx: nnx.WithTag("dropout"),
    "OfType": lambda nnx: nnx.OfType(nnx.BatchStat),
    "Everything": lambda nnx: nnx.Everything(),
    "Nothing": lambda nnx: nnx.Nothing(),
}

Described = tp.Any
described: st.SearchStrategy[Described] = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inner: (
        st.tuples(st.sampled_from(["tuple", "list", "Any", "All"]), st.lists(inner, max_size=3))
        | st.tuples(st.just("Not"), inner)
    ),
    max_leaves=5,
)


def build(nnx: tp.Any, what: Described) -> tp.Any:
    """Build a described filter with one library."""
    if isinstance(what, str):
        return LEAVES[what](nnx)
    kind, inner = what
    if kind == "Not":
        return nnx.Not(build(nnx, inner))
    made = [build(nnx, x) for x in inner]
    return {"tuple": tuple, "list": list}[kind](made) if kind in ("tuple", "list") else (
        getattr(nnx, kind)(*made)
    )  # fmt: skip


def answers(nnx: tp.Any, what: Described) -> list[bool]:
    """What the filter says about every path and value."""
    predicate = nnx.filterlib.to_predicate(build(nnx, what))
    values = [make(nnx) for make in VALUES]
    return [bool(predicate(p, v)) for p, v in itertools.product(PATHS, values)]


@settings(max_examples=150, deadline=None)
@given(described)
def test_every_filter_says_what_it_says_in_flax(what: Described) -> None:
    assert_as_in_flax(lambda library: answers(library, what))


@settings(max_examples=60, deadline=None)
@given(described, described)
def test_the_laws_of_logic_hold(left: Described, right: Described) -> None:
    a, b = answers(nnx, left), answers(nnx, right)
    assert answers(nnx, ("Any", [left, right])) == [x or y for x, y in zip(a, b, strict=True)]
    assert answers(nnx, ("All", [left, right])) == [x and y for x, y in zip(a, b, strict=True)]
    assert answers(nnx, ("Not", left)) == [not x for x in a]
    assert answers(nnx, ("tuple", [left, right])) == answers(nnx, ("list", [left, right]))
    assert answers(nnx, ("Not", ("Any", [left, right]))) == answers(
        nnx, ("All", [("Not", left), ("Not", right)])
    )


def test_a_value_may_say_of_which_type_it_is() -> None:
    """As the guide to filters of NNX has it; flax 0.12.8 looks at the value's own type alone."""
    kinds = [nnx.Param, nnx.LoRAParam, nnx.BatchStat]
    matches = nnx.to_predicate(nnx.Param)
    assert [matches((), types.SimpleNamespace(type=kind)) for kind in kinds] == [True, True, False]


def test_a_combination_of_nothing_is_its_neutral_element() -> None:
    assert not nnx.Any()((), 1)
    assert nnx.All()((), 1)


LITERALS: dict[str, tuple[tp.Any, str]] = {
    "dots": (..., "Everything()"),
    "True": (True, "Everything()"),
    "None": (None, "Nothing()"),
    "False": (False, "Nothing()"),
    "type": (int, "OfType(<class 'int'>)"),
    "text": ("dropout", "WithTag('dropout')"),
    "tuple": ((int, "x"), "Any(OfType(<class 'int'>), WithTag('x'))"),
    "list": ([int, [None]], "Any(OfType(<class 'int'>), Any(Nothing()))"),
}


@both_libraries
@pytest.mark.parametrize(("literal", "text"), LITERALS.values(), ids=LITERALS.keys())
def test_a_literal_is_shown_as_the_filter_that_it_stands_for(
    nnx: tp.Any, literal: tp.Any, text: str
) -> None:
    assert repr(nnx.filterlib.to_predicate(literal)) == text


def combinations(nnx: tp.Any) -> tp.Any:
    made = [nnx.Any(int, "a"), nnx.All(...), nnx.Not(None), nnx.PathContains("a"), nnx.Not("b")]
    return [repr(x) for x in made]


def equal_and_hashed(nnx: tp.Any) -> tp.Any:
    made = [
        nnx.Any(int, "a"), nnx.Any("a", int), nnx.All(int, "a"), nnx.Not(int), nnx.Not("a"),
        nnx.Everything(), nnx.Nothing(), nnx.OfType(int), nnx.OfType(bool), nnx.WithTag("a"),
        nnx.PathContains("a"), nnx.PathContains("a", exact=False),
    ]  # fmt: skip
    twins = [copy.deepcopy(x) for x in made]
    return (
        [x == y for x, y in itertools.product(made, twins)],
        [hash(x) == hash(y) for x, y in zip(made, twins, strict=True)],
        len({*made, *twins}),
    )


def order_kept(nnx: tp.Any) -> tp.Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.a, self.b = nnx.Param(1), nnx.LoRAParam(2)
            self.rngs = nnx.Rngs(0, dropout=1)

    def groups(*filters: tp.Any) -> tp.Any:
        states = nnx.split(Model(), *filters)[1:]
        return [[path for path, _ in nnx.to_flat_state(state)] for state in states]

    return (
        groups(nnx.Param, nnx.LoRAParam, ...),
        groups(nnx.LoRAParam, nnx.Param, ...),
        groups("dropout", nnx.RngKey, nnx.RngState, ...),
        groups(nnx.Not(nnx.RngState), ..., True),
    )


@scenarios(combinations, equal_and_hashed, order_kept)
def test_filters_do_what_they_do_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def predicate_of_a_dict(nnx: tp.Any) -> tp.Any:
    return nnx.filterlib.to_predicate({"a": 1})


def dots_before_the_end(nnx: tp.Any) -> tp.Any:
    return nnx.split(nnx.List([]), ..., nnx.Param)


def true_before_the_end(nnx: tp.Any) -> tp.Any:
    return nnx.state(nnx.List([]), True, nnx.Param)


def nothing_matches(nnx: tp.Any) -> tp.Any:
    return nnx.split(nnx.List([nnx.Param(1)]), nnx.BatchStat)


@scenarios(
    predicate_of_a_dict, dots_before_the_end, true_before_the_end, nothing_matches
)  # fmt: skip
def test_what_flax_refuses_is_refused(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)


@pytest.mark.parametrize("bad", [5, 1.5, {"a": 1}, b"x", {nnx.Param}], ids=repr)
def test_a_bad_filter_is_shown_with_what_was_expected(bad: tp.Any) -> None:
    with pytest.raises(nnx.errors.InvalidFilterError) as caught:
        nnx.to_predicate(bad)
    assert f"got {bad!r} ({type(bad).__name__})" in str(caught.value)
    assert "expected a type, a string tag, `...`" in str(caught.value)
    with pytest.raises(nnx.errors.InvalidFilterError):
        nnx.split(nnx.List([]), (nnx.Param, bad), ...)


def test_dots_before_another_filter_say_where_they_are() -> None:
    text = r"`...` or `True` can only be used as the last filters, got `...` at index 1"
    with pytest.raises(nnx.errors.ArgumentError, match=text):
        nnx.split(nnx.List([]), nnx.Param, ..., nnx.BatchStat)
    with pytest.raises(nnx.errors.ArgumentError, match="got `True` at index 0"):
        nnx.state(nnx.List([]), True, nnx.BatchStat)


def test_path_in_matches_the_given_paths_alone() -> None:
    filter_ = nnx.PathIn(("a",), ("b", 0))
    assert [filter_(path, None) for path in (("a",), ("b", 0), ("b",), ("a", 0), ())] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert filter_ == nnx.PathIn(("b", 0), ("a",))
    assert hash(filter_) == hash(nnx.PathIn(("b", 0), ("a",)))
    assert repr(filter_) == "PathIn(('a',), ('b', 0))"


def test_every_filter_can_be_pickled() -> None:
    made = nnx.All(nnx.Any(int, "a", nnx.PathIn(("a",))), nnx.Not(nnx.PathContains("b")), ..., None)
    assert pickle.loads(pickle.dumps(made)) == made
