"""Eight threads at once: models of their own, and one model that all read."""

from __future__ import annotations

import threading
import time
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.support import switching

THREADS = 8


class Layer(nnx.Module):
    def __init__(self, value: float) -> None:
        self.w = nnx.Param(jnp.full(2, value), note="n")
        self.b = jnp.full((), value)
        self.deterministic = False


class Model(nnx.Module):
    def __init__(self, value: float) -> None:
        self.layers = nnx.List([Layer(value + i) for i in range(3)])
        self.shared = self.layers[0]
        self.plain = nnx.data({"a": [nnx.Param(jnp.full((), value))]})
        self.me = self


@pytest.fixture
def switching_often() -> tp.Iterator[None]:
    """Make Python change threads as often as it can."""
    with switching.often(1e-5):
        yield


def together(work: tp.Callable[[int], None]) -> None:
    """Run `work` in all threads at once and raise the first error."""
    start, errors = threading.Barrier(THREADS), []

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 -- raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def own_models(seconds: float) -> None:
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        step = 0
        while time.monotonic() < end or step < 3:
            step += 1
            value = float(number * 1000 + step)
            model = Model(value)
            graphdef, params, rest = nnx.split(model, nnx.Param, ...)
            clone = nnx.merge(graphdef, params, rest, copy=True)
            assert clone.me is clone
            assert clone.shared is clone.layers[0]
            nnx.update(clone, jax.tree.map(lambda x: -x, nnx.state(clone)))
            assert [float(x.sum()) for x in jax.tree.leaves(nnx.state(model, nnx.Param))] == [
                2 * value, 2 * value + 2, 2 * value + 4, value,
            ]  # fmt: skip
            assert float(clone.layers[2].b) == -(value + 2)
            model.set_attributes(deterministic=True)
            model.layers.append(Layer(0.0))
            assert nnx.graphdef(model) != graphdef
            assert nnx.merge(*nnx.split(model)).layers[0].deterministic is True
            assert len(nnx.clone(model).layers) == 4

    together(work)


def one_model_that_all_read(seconds: float) -> None:
    model = Model(1.0)
    expected = [2.0, 4.0, 6.0, 1.0]
    first = nnx.graphdef(nnx.clone(model))
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        roots = [model, model.layers, model.layers[number % 3], model.shared]
        step = 0
        while time.monotonic() < end or step < 3:
            step += 1
            assert nnx.graphdef(model) == first
            graphdef, params, rest = nnx.split(model, nnx.Param, ...)
            assert [float(x.sum()) for x in jax.tree.leaves(params)] == expected
            assert nnx.merge(graphdef, params, rest).shared.w is model.shared.w
            copy = nnx.clone(model)
            nnx.update(copy, jax.tree.map(lambda x: x * (number + 2), nnx.state(model)))
            assert float(copy.layers[1].w[...].sum()) == 4.0 * (number + 2)
            for root in roots:
                assert nnx.graphdef(root) == nnx.split(root)[0]
            if step % 20 == 0:
                nnx.invalidate(model)

    together(work)
    assert [float(x.sum()) for x in jax.tree.leaves(nnx.state(model, nnx.Param))] == expected


@pytest.mark.usefixtures("switching_often")
def test_models_of_their_own_do_not_disturb_each_other() -> None:
    own_models(1.5)


@pytest.mark.slow
@pytest.mark.usefixtures("switching_often")
def test_threads_agree_for_a_long_time() -> None:
    own_models(10.0)
    one_model_that_all_read(10.0)


@pytest.mark.usefixtures("switching_often")
def test_the_first_objects_of_a_class_may_be_made_at_once() -> None:
    for _ in range(100):

        class Fresh(nnx.Module):
            pass

        def work(number: int, cls: type[nnx.Module] = Fresh) -> None:
            assert nnx.graphdef(cls()) == nnx.graphdef(cls())

        together(work)


def test_a_mode_that_was_set_before_is_what_all_threads_read() -> None:
    model = nnx.List([nnx.Dropout(0.5) for _ in range(100)])
    with switching.often():
        for step in range(20):
            mode = bool(step % 2)
            (model.eval if mode else model.train)()

            def read(_: int, mode: bool = mode) -> None:
                modes = [layer.deterministic for layer in nnx.merge(*nnx.split(model))]
                assert modes == [mode] * 100

            together(read)
            read(0)


def test_a_change_during_the_first_traversal_is_not_lost() -> None:
    with switching.often():
        for _ in range(30):
            model: tp.Any = nnx.List([Layer(1.0) for _ in range(20)])

            def work(number: int, model: tp.Any = model) -> None:
                if number:
                    nnx.split(model)
                    return
                for layer in model:
                    layer.deterministic = True
                    layer.extra = nnx.Param(jnp.ones(()))

            together(work)
            assert all(layer.deterministic for layer in nnx.merge(*nnx.split(model)))
            assert len(nnx.to_flat_state(nnx.state(model, nnx.Param))) == 40


def test_what_jitted_functions_write_is_what_all_read() -> None:
    model: tp.Any = nnx.List([nnx.Variable(jnp.array(0.0)) for _ in range(20)])
    numbers = [jnp.array(float(number)) for number in range(THREADS)]

    @nnx.jit
    def set_all(model: tp.Any, x: tp.Any) -> None:
        for variable in model:
            variable[...] = x

    @nnx.jit
    def read(model: tp.Any) -> list[tp.Any]:
        return [variable[...] * 1 for variable in model]

    set_all(model, numbers[0])
    read(model)
    with switching.often():
        for _ in range(100):

            def work(number: int) -> None:
                set_all(model, numbers[number])
                # All values of one call are written at one moment, and read at one moment.
                assert len({float(value) for value in read(model)}) == 1

            together(work)
            assert [float(v[...]) for v in model] == [float(value) for value in read(model)]
