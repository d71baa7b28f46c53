"""A gradient of a kind that was taken before is that of the values of now."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx


class Net(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.array([1.0, 2.0]))
        self.seen = nnx.BatchStat(jnp.array(0.0))
        self.scale = 2.0


def loss(net: Net, x: Any) -> Any:
    return (net.w[...] * x).sum() * net.scale


def counting(net: Net, x: Any) -> Any:
    net.seen[...] += 1.0
    return loss(net, x)


def test_a_warm_call_reads_and_writes_the_values_of_now() -> None:
    net, other = Net(), Net()
    gradient = nnx.value_and_grad(counting)
    for number, model in enumerate([net, net, other, net], 1):
        model.w[...] = jnp.array([float(number), 0.0])
        value, grads = gradient(model, jnp.full(2, float(number)))
        assert float(value) == 2.0 * number * number
        assert grads.w[...].tolist() == [2.0 * number] * 2
        assert "seen" not in grads
    assert (float(net.seen[...]), float(other.seen[...])) == (3.0, 1.0)


def test_a_change_of_structure_or_of_a_static_value_is_seen() -> None:
    net, gradient = Net(), nnx.grad(loss)
    for _ in range(2):
        assert gradient(net, jnp.ones(2)).w[...].tolist() == [2.0, 2.0]
    net.scale = 3.0
    assert gradient(net, jnp.ones(2)).w[...].tolist() == [3.0, 3.0]
    net.more = nnx.Param(jnp.array(1.0))  # type: ignore[attr-defined]  # another structure
    assert sorted(gradient(net, jnp.ones(2))) == ["more", "w"]


def test_objects_that_come_to_be_shared_are_gathered_together() -> None:
    def apart(one: Net, two: Net) -> Any:
        return (one.w[...] * two.w[...]).sum()

    gradient = nnx.grad(apart)
    one, two = Net(), Net()
    for _ in range(2):
        assert gradient(one, two).w[...].tolist() == [1.0, 2.0]
    with pytest.raises(nnx.errors.PrefixConflictError):
        gradient(one, one)


def test_a_filter_that_looks_at_values_is_asked_at_each_call() -> None:
    def is_large(path: Any, leaf: Any) -> bool:
        return bool(leaf[...].sum() > 2.0)

    net = Net()
    gradient = nnx.grad(loss, argnums=nnx.DiffState(0, is_large))
    for _ in range(2):
        assert list(gradient(net, jnp.ones(2))) == ["w"]
    net.w[...] = jnp.zeros(2)
    assert list(gradient(net, jnp.ones(2))) == []


def test_a_function_that_closes_over_a_module_uses_the_one_of_now() -> None:
    net = Net()
    gradient = nnx.grad(lambda x: counting(net, x).sum())
    for number in (1.0, 2.0, 3.0):
        net.w[...] = jnp.full(2, number)
        assert gradient(jnp.ones(2)).tolist() == [2.0 * number] * 2
    assert float(net.seen[...]) == 3.0
    before, net = net, Net()
    assert gradient(jnp.ones(2)).tolist() == [2.0, 4.0]
    assert (float(before.seen[...]), float(net.seen[...])) == (3.0, 1.0)
