"""Warm calls of `jit` go a short way: through few files, without reading values one by one."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

SOURCE = str(Path(nnx.__file__).parent)


class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.norm(self.linear(x))


class Pair(nnx.Module):
    """Two values of its own and the model that it is made with."""

    def __init__(self, model: Any) -> None:
        self.first = nnx.Param(jnp.zeros(()))
        self.model = model
        self.last = nnx.Param(jnp.zeros(()))


def called(function: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the file and name of each function of the library that a warm call runs."""
    found: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE):
            found.add((code.co_filename.removeprefix(SOURCE), code.co_name))

    with nnx.set_verify_records(False):
        for _ in range(3):
            function()
        sys.setprofile(note)
        try:
            function()
        finally:
            sys.setprofile(None)
    return found


def rooms(function: Callable[[], object]) -> set[str]:
    return {file for file, _ in called(function)}


@pytest.fixture
def model() -> Block:
    return Block(nnx.Rngs(0))


def train(model: Block, x: Any) -> Any:
    loss = model(x).sum()
    model.linear.kernel[...] *= 0.5
    return loss


def evaluate(model: Block, x: Any) -> Any:
    return model.linear(x).sum()


def loss(model: Block, x: Any) -> Any:
    return model.linear.kernel[...].sum()


def counted_loss(model: Block, x: Any) -> Any:
    model.norm.mean[...] += 1.0
    return loss(model, x)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("call", "most"),
    [
        (nnx.jit(train), 4),
        (nnx.jit(evaluate), 4),
        (nnx.grad(loss), 12),
        (nnx.value_and_grad(loss), 12),
        (nnx.grad(counted_loss), 14),
        (nnx.value_and_grad(counted_loss), 14),
    ],
    ids=["jit-writes", "jit-reads", "grad-reads", "value-reads", "grad-writes", "value-writes"],
)
def test_a_warm_call_goes_through_few_files(model: Block, call: Any, most: int) -> None:
    x = jnp.ones((4, 2))
    assert len(rooms(lambda: call(model, x))) <= most


def test_a_warm_call_with_a_batch_in_a_dict_takes_nothing_apart(model: Block) -> None:
    step, batch = nnx.jit(lambda model, batch: evaluate(model, batch["x"])), {"x": jnp.ones((4, 2))}
    assert "argument" not in {name for _, name in called(lambda: step(model, batch))}


def test_a_warm_call_with_a_variable_alone_goes_through_four_files() -> None:
    total = nnx.Variable(jnp.zeros(()))

    def add(total: Any, x: Any) -> None:
        total[...] += x

    step = nnx.jit(add)
    assert len(rooms(lambda: step(total, 1.0))) <= 4
    assert total[...] == 4


# -- values after a write ----------------------------------------------------------------------------


def reads_values(function: Callable[[], object]) -> bool:
    """Whether a warm call collects the values of a model one by one."""
    return "read" in {name for _, name in called(function)}


def bump(model: Any) -> None:
    for _, node in nnx.iter_graph(model):
        if isinstance(node, nnx.Param):
            node[...] += 1


def test_a_call_after_one_that_writes_finds_all_values(model: Block) -> None:
    step, read, x = nnx.jit(train), nnx.jit(evaluate), jnp.ones((4, 2))
    assert not reads_values(lambda: (step(model, x), read(model, x)))


def test_a_call_after_one_that_writes_through_another_owner_finds_all_values(model: Block) -> None:
    step, read, x = nnx.jit(bump), nnx.jit(evaluate), jnp.ones((4, 2))
    pair = Pair(model)
    assert not reads_values(lambda: (step(pair), read(model, x)))
    assert not reads_values(lambda: (step(model), nnx.jit(lambda p: p.first[...])(pair)))


def test_owners_of_the_same_variables_see_each_others_writes() -> None:
    choose = random.Random(0)
    model = Pair(None)
    owners: list[Any] = [model, Pair(model), Pair(model)]
    variables = [owner.first for owner in owners] + [owner.last for owner in owners]
    expected = [0.0] * len(variables)
    step, values = nnx.jit(bump), nnx.jit(lambda owner: jax.tree.leaves(nnx.state(owner)))

    def numbers_of(owner: Any) -> set[int]:
        reached = {id(node) for _, node in nnx.iter_graph(owner)}
        return {number for number, each in enumerate(variables) if id(each) in reached}

    for _ in range(60):
        owner = choose.choice(owners)
        if choose.random() < 0.4:
            step(owner)
            for number in numbers_of(owner):
                expected[number] += 1
        elif choose.random() < 0.4:
            number = choose.randrange(len(variables))
            variables[number][...] = jnp.full((), 10.0 * number)
            expected[number] = 10.0 * number
        elif choose.random() < 0.2:
            owners[1] = Pair(model)
            variables[1], variables[4] = owners[1].first, owners[1].last
            expected[1] = expected[4] = 0.0
        owner = choose.choice(owners)
        wanted = sorted(expected[number] for number in numbers_of(owner))
        assert sorted(map(float, values(owner))) == wanted
    assert [float(variable[...]) for variable in variables] == expected


# -- Variables by themselves ---------------------------------------------------------------------------


def test_variables_of_one_kind_share_a_program_and_others_do_not() -> None:
    traces: list[Any] = []

    @nnx.jit
    def double(variable: Any) -> Any:
        traces.append((type(variable), variable.get_metadata("role", None)))
        variable[...] *= 2
        return variable[...]

    first, second = nnx.Param(jnp.ones(())), nnx.Param(3 * jnp.ones(()))
    assert [float(double(each)) for each in (first, second, first)] == [2, 6, 4]
    double(nnx.BatchStat(jnp.ones(())))
    double(nnx.Param(jnp.ones(()), role="bias"))
    first.set_metadata(role="bias")
    assert double(first) == 8
    assert traces == [(nnx.Param, None), (nnx.BatchStat, None), (nnx.Param, "bias")]


def test_a_variable_is_written_next_to_its_model() -> None:
    model = Pair(None)
    other = nnx.Param(jnp.zeros(()))

    @nnx.jit
    def swap(model: Any, variable: Any) -> None:
        model.first[...] += 1
        variable[...] += 2

    for _ in range(3):
        swap(model, other)
    assert (float(model.first[...]), float(other[...])) == (3, 6)
    for _ in range(2):
        swap(model, model.first)  # it is in the model, too
    assert model.first[...] == 9
    for _ in range(2):
        swap(model, model.last)
    assert (float(model.first[...]), float(model.last[...])) == (11, 4)


def test_metadata_without_a_hash_is_compared_by_its_content() -> None:
    names = ["rows"]
    variable = nnx.Param(jnp.ones(()), names=names)
    read = nnx.jit(lambda variable: variable[...] * len(variable.names))
    assert [float(read(variable)), float(read(variable))] == [1, 1]
    names.append("columns")
    assert read(variable) == 2


def test_a_variable_of_an_outer_trace_is_not_written() -> None:
    variable = nnx.Param(jnp.ones(()))
    add = nnx.jit(lambda variable: variable.set_value(variable[...] + 1))
    add(variable)
    with pytest.raises(nnx.errors.TraceLevelError):
        jax.jit(lambda: add(variable))()
    assert variable[...] == 2
