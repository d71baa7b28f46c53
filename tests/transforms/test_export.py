"""A step with each transform lowers for every backend, on a machine that has the CPU only.

`jax.export` for several platforms gives one program that chooses by platform when it runs; its call
here runs the branch for the CPU, which must give the values of plain jax.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.export import export
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.transforms.closure_steps import CLOSURES
from tests.transforms.library import OURS, nnx
from tests.transforms.steps import STEPS, Net, Step, call, forward, inputs

BACKENDS = ("cpu", "cuda", "rocm", "tpu")


def pure(step: tp.Callable[..., tp.Any], model: tp.Any) -> tuple[tp.Callable[..., tp.Any], tp.Any]:
    """Turn a step into a function of arrays only, as one must to export it."""
    graphdef, state = nnx.split(model)

    def function(state: tp.Any, x: tp.Any) -> tp.Any:
        model = nnx.merge(graphdef, state)
        y = step(model, x)
        return y, nnx.state(model)

    return function, state


def exported_step_agrees(step: Step) -> None:
    net, x = step.model(), inputs()
    function, state = pure(step.run, net)
    exported = export(jax.jit(function), platforms=BACKENDS)(state, x)
    assert exported.platforms == BACKENDS
    want_y, want_kernel, want_count = step.expected(net.kernel[...], x)
    y, state = exported.call(state, x)
    nnx.update(net, state)
    np.testing.assert_allclose(y, want_y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(net.kernel[...], want_kernel, rtol=1e-5, atol=1e-6)
    assert net.count[...] == want_count


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_exported_for_every_backend(name: str) -> None:
    exported_step_agrees(STEPS[name])


@pytest.mark.skipif(not OURS, reason="the oracle does not manage what a function closes over")
@pytest.mark.parametrize("name", CLOSURES)
def test_a_step_that_closes_over_the_model_is_exported_for_every_backend(name: str) -> None:
    exported_step_agrees(CLOSURES[name])


NUMBERS = {"cpu": 1111, "cuda": 2222, "rocm": 4444, "tpu": 8888}


def add_number_of_backend(net: tp.Any, x: jax.Array) -> tp.Any:
    """Add a number that shows in the program for which backend it was made."""
    branches = {
        backend: lambda x, number=number: x + jnp.int32(number)
        for backend, number in NUMBERS.items()
    }
    return jax.lax.platform_dependent(net(x).astype(jnp.int32), **branches)


def backends_named(program: str) -> list[str]:
    return [backend for backend, number in NUMBERS.items() if f"<{number}>" in program]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_traced_jit_object_lowers_for_the_backend_asked_for(backend: str) -> None:
    net = Net()
    traced = nnx.jit(add_number_of_backend).trace(net, inputs())
    text = traced.lower(lowering_platforms=(backend,)).as_text()
    assert backends_named(text) == [backend]
    assert net.count[...] == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_exported_jit_lowers_for_the_backend_asked_for(backend: str) -> None:
    function, state = pure(nnx.jit(add_number_of_backend), Net())
    exported = export(jax.jit(function), platforms=[backend])(state, inputs())
    text = exported.mlir_module()
    assert exported.platforms == (backend,)
    assert backends_named(text) == [backend]


def test_lowering_here_and_compiling_gives_the_step_itself() -> None:
    net, x = Net(), inputs()
    compiled = nnx.jit(call).lower(net, x).compile()
    y = compiled(net, x)
    np.testing.assert_allclose(y, forward(net.kernel[...], x), rtol=1e-5)
    assert net.count[...] == 1


def abstract(tree: tp.Any, mesh: AbstractMesh, spec: P) -> tp.Any:
    """Give arrays as shapes that lie on devices that need not be here."""
    sharding = NamedSharding(mesh, spec)
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=sharding), tree)


@pytest.mark.parametrize("inside", [lambda f: f, nnx.jit], ids=["bare", "in nnx.jit"])
def test_shard_map_is_exported_for_devices_that_are_not_here(inside: tp.Any) -> None:
    mesh = AbstractMesh((4,), ("data",))

    @nnx.shard_map(mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
    def summed(net: tp.Any, x: jax.Array) -> tp.Any:
        return jax.lax.psum(net(x).sum(0), "data")

    function, state = pure(inside(summed), Net())
    where = (abstract(state, mesh, P()), abstract(inputs(), mesh, P("data")))
    exported = export(jax.jit(function), platforms=BACKENDS)(*where)
    assert exported.nr_devices == 4
    assert exported.platforms == BACKENDS
    assert "all_reduce" in exported.mlir_module()
    assert [aval.shape for aval in exported.out_avals] == [(3,), (), (3, 3)]


def test_the_shardings_of_a_jit_are_exported_for_devices_that_are_not_here() -> None:
    mesh = AbstractMesh((4,), ("data",))
    by_row, everywhere = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
    model = nnx.StateSharding({nnx.Param: everywhere, ...: everywhere})

    def text(in_shardings: tp.Any) -> str:
        function, state = pure(nnx.jit(call, in_shardings=in_shardings), Net())
        where = (abstract(state, mesh, P()), abstract(inputs(), mesh, P()))
        exported = export(jax.jit(function), platforms=BACKENDS)(*where)
        assert exported.nr_devices == 4
        return exported.mlir_module()

    assert '{"data"}' in text((model, by_row))
    assert '{"data"}' not in text((model, everywhere))


def test_a_step_of_unknown_batch_size_is_exported() -> None:
    net = Net()
    function, state = pure(STEPS["value_and_grad"].run, net)
    x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("batch, 3"), jnp.float32)
    exported = export(jax.jit(function), platforms=BACKENDS)(state, x)
    for batch in (1, 4):
        loss, _ = exported.call(state, inputs()[:batch])
        want = jnp.square(forward(net.kernel[...], inputs()[:batch])).sum()
        np.testing.assert_allclose(loss, want, rtol=1e-5)
