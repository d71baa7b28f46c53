"""`logical_axis_rules` as a context manager, a decorator, in threads and with bad rules."""

from __future__ import annotations

import asyncio
import threading
import typing as tp

import flax.core.spmd
import flax.nnx
import pytest

from typed_nnx.errors import ShardingError
from typed_nnx.spmd import get_logical_axis_rules, logical_axis_rules

RULES = (("a", "data"), ("b", None))

each_library = pytest.mark.parametrize(
    ("rules", "in_force"),
    [
        (logical_axis_rules, get_logical_axis_rules),
        (flax.nnx.logical_axis_rules, flax.core.spmd.get_logical_axis_rules),
    ],
    ids=["ours", "flax"],
)


@each_library
def test_inner_rules_replace_outer_ones_for_a_block(rules: tp.Any, in_force: tp.Any) -> None:
    assert in_force() == ()
    with rules(RULES) as value:
        assert value is None
        assert in_force() == RULES
        with rules([("c", "model")]):
            assert tuple(in_force()) == (("c", "model"),)
        assert in_force() == RULES
    assert in_force() == ()


@each_library
def test_an_error_in_the_block_ends_the_rules(rules: tp.Any, in_force: tp.Any) -> None:
    with pytest.raises(KeyError), rules(RULES):
        raise KeyError
    assert in_force() == ()


@each_library
def test_rules_decorate_a_function(rules: tp.Any, in_force: tp.Any) -> None:
    @rules(RULES)
    def look(depth: int = 1) -> tp.Any:
        return in_force() if depth == 0 else look(depth - 1)

    assert look() == RULES
    assert look() == RULES
    assert in_force() == ()


@each_library
def test_rules_that_are_not_entered_do_not_count(rules: tp.Any, in_force: tp.Any) -> None:
    rules(RULES)
    assert in_force() == ()


@each_library
def test_another_thread_has_no_rules(rules: tp.Any, in_force: tp.Any) -> None:
    found: list[tp.Any] = []
    with rules(RULES):
        thread = threading.Thread(target=lambda: found.append(in_force()))
        thread.start()
        thread.join()
    assert found == [()]


def test_tasks_that_take_turns_keep_their_own_rules() -> None:
    async def look(target: str) -> tp.Any:
        with logical_axis_rules([("a", target)]):
            await asyncio.sleep(0)
            return get_logical_axis_rules()

    async def both() -> tp.Any:
        return await asyncio.gather(look("x"), look("y"))

    assert asyncio.run(both()) == [(("a", "x"),), (("a", "y"),)]


def test_rules_may_be_entered_again_and_inside_themselves() -> None:
    context = logical_axis_rules(RULES)
    for _ in range(2):
        with context, context:
            assert get_logical_axis_rules() == RULES
        assert get_logical_axis_rules() == ()


@pytest.mark.parametrize(
    "rules", [{"a": "data", "b": None}, [["a", "data"], ["b", None]], iter(RULES)],
    ids=["mapping", "lists", "iterator"],
)  # fmt: skip
def test_rules_are_taken_in_several_forms(rules: tp.Any) -> None:
    with logical_axis_rules(rules):
        assert get_logical_axis_rules() == RULES


@pytest.mark.parametrize("rules", [None, ()], ids=["None", "empty"])
def test_no_rules_hide_outer_ones(rules: tp.Any) -> None:
    with logical_axis_rules(RULES), logical_axis_rules(rules):
        assert get_logical_axis_rules() == ()


@pytest.mark.parametrize(
    "rules",
    [3, "ab", (("a",),), (("a", 3),), ((1, "a"),), (("a", ("x", 1)),), {"a": 1}],
    ids=["number", "text", "single", "number for axes", "number for name", "part", "mapping"],
)
def test_rules_that_are_no_pairs_are_an_error(rules: tp.Any) -> None:
    with pytest.raises(ShardingError, match="expected pairs") as caught:
        logical_axis_rules(rules)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
