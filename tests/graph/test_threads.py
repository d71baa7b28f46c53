"""Eight threads at once where a class or a model is met for the first time; more are in `tests/fuzz/threads.py`."""

from __future__ import annotations

import threading
import typing as tp

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.support import switching

THREADS = 8


class Layer(nnx.Module):
    def __init__(self, value: float) -> None:
        self.w = nnx.Param(jnp.full(2, value), note="n")
        self.deterministic = False


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


@pytest.mark.usefixtures("switching_often")
def test_the_first_objects_of_a_class_may_be_made_at_once() -> None:
    for _ in range(100):

        class Fresh(nnx.Module):
            pass

        def work(number: int, cls: type[nnx.Module] = Fresh) -> None:
            assert nnx.graphdef(cls()) == nnx.graphdef(cls())

        together(work)


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
