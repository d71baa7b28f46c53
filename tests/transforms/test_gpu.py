"""The steps with each transform on a GPU or TPU: ``make gpu``.

Where jax has none everything here is skipped. The values to reach come from plain jax on the CPU.
"""

from __future__ import annotations

import typing as tp

import jax
import numpy as np
import pytest
from jax.export import export

from tests.transforms.closure_steps import CLOSURES
from tests.transforms.library import OURS, nnx
from tests.transforms.steps import STEPS, Step, call, forward, inputs

pytestmark = pytest.mark.gpu

every_step = pytest.mark.parametrize(
    "step",
    [*STEPS.values(), *(CLOSURES.values() if OURS else ())],
    ids=[*STEPS, *(f"closure-{name}" for name in CLOSURES if OURS)],
)


@pytest.fixture(autouse=True)
def on_a_gpu() -> tp.Iterator[None]:
    """Skip on a CPU; multiply matrices exactly, since accelerators round their elements by default."""
    if jax.default_backend() == "cpu":
        pytest.skip("no accelerator: jax computes on the CPU here")
    with jax.default_matmul_precision("highest"):
        yield


def wanted(step: Step) -> tp.Any:
    """Compute the expected values on the CPU."""
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        y, kernel, count = step.expected(step.model().kernel[...], inputs())
        return np.asarray(y), np.asarray(kernel), count


def check(step: Step, net: tp.Any, y: jax.Array) -> None:
    want_y, want_kernel, want_count = wanted(step)
    np.testing.assert_allclose(y, want_y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(net.kernel[...], want_kernel, rtol=1e-4, atol=1e-5)
    assert net.count[...] == want_count
    for array in (y, net.kernel[...], net.count[...]):
        assert {device.platform for device in array.devices()} == {jax.default_backend()}


@every_step
def test_a_step_computes_on_the_accelerator_what_plain_jax_does_on_the_cpu(step: Step) -> None:
    net = step.model()
    check(step, net, step.run(net, inputs()))


@every_step
def test_a_step_in_jit_with_donation_does_too(step: Step) -> None:
    net = step.model()
    before = net.kernel[...]
    check(step, net, nnx.jit(step.run, donate_argnums=0)(net, inputs()))
    assert before.is_deleted()


@every_step
def test_an_exported_step_runs_on_the_accelerator(step: Step) -> None:
    net = step.model()
    graphdef, state = nnx.split(net)

    def pure(state: tp.Any, x: jax.Array) -> tp.Any:
        net = nnx.merge(graphdef, state)
        y = step.run(net, x)
        return y, nnx.state(net)

    exported = export(jax.jit(pure), platforms=("cpu", "cuda", "rocm", "tpu"))(state, inputs())
    y, state = exported.call(state, inputs())
    nnx.update(net, state)
    check(step, net, y)


def test_a_model_moved_to_the_cpu_is_computed_there_by_the_same_function() -> None:
    net, step = STEPS["jit"].model(), nnx.jit(call)
    y = step(net, inputs())
    assert y.device.platform == jax.default_backend()
    cpu = jax.local_devices(backend="cpu")[0]
    nnx.update(net, jax.device_put(nnx.state(net), cpu))
    x = jax.device_put(inputs(), cpu)
    np.testing.assert_allclose(step(net, x), forward(net.kernel[...], x), rtol=1e-5)
    assert net.kernel[...].device == net.count[...].device == cpu
    assert net.count[...] == 2
