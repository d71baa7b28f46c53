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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_step_of_unknown_batch_size_is_exported() -> None:
    net = Net()
    function, state = pure(STEPS["value_and_grad"].run, net)
    x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("batch, 3"), jnp.float32)
    exported = export(jax.jit(function), platforms=BACKENDS)(state, x)
    for batch in (1, 4):
        loss, _ = exported.call(state, inputs()[:batch])
        want = jnp.square(forward(net.kernel[...], inputs()[:batch])).sum()
        np.testing.assert_allclose(loss, want, rtol=1e-5)


# -- nnx.export, and jax.export of a jitted function ---------------------------------------------


def forward_of(net: tp.Any, x: jax.Array) -> jax.Array:
    """Do what `Net` does, without counting."""
    return forward(net.kernel[...], x)


ours_only = pytest.mark.skipif(
    not OURS, reason="flax has no `export`, and jax.export refuses its `jit`"
)


@ours_only
@pytest.mark.parametrize("wrapped", [lambda f: f, nnx.jit], ids=["bare", "in nnx.jit"])
def test_a_program_takes_arrays_by_name_and_is_read_back(wrapped: tp.Any) -> None:
    net, other = Net(), Net()
    other.kernel[...] = 2 * net.kernel[...]
    exported = nnx.export(wrapped(forward_of), net, platforms=BACKENDS)(inputs())
    assert exported.platforms == BACKENDS
    read = jax.export.deserialize(exported.serialize())
    for model in (net, other):
        weights = {name: np.asarray(array) for name, array in nnx.named_arrays(model).items()}
        np.testing.assert_allclose(
            read.call(weights, inputs()), forward(model.kernel[...], inputs()), rtol=1e-5
        )


@ours_only
def test_a_program_returns_what_may_change() -> None:
    net = Net()
    exported = nnx.export(call, net, mutable=type(net.count))(inputs())
    weights = nnx.named_arrays(net)
    for count in (1, 2):
        y, updates = exported.call(weights, inputs())
        np.testing.assert_allclose(y, forward(net.kernel[...], inputs()), rtol=1e-5)
        assert {name: int(value) for name, value in updates.items()} == {"count": count}
        weights |= updates
    assert net.count[...] == 0


@ours_only
def test_what_may_not_change_is_an_error_that_names_it() -> None:
    with pytest.raises(nnx.errors.ExportError, match="would not return: count"):
        nnx.export(call, Net())(inputs())


class Sampler(nnx.Module):
    """Has keys, a list and shared parameters."""

    def __init__(self) -> None:
        self.rngs = nnx.Rngs(default=jax.random.key(1, impl="rbg"), noise=2)
        self.layers = nnx.List([nnx.Linear(3, 3, rngs=nnx.Rngs(n)) for n in range(11)])
        self.tied = self.layers[10].kernel

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.layers:
            x = layer(x)
        noise = jax.random.normal(self.rngs.noise(), x.shape)
        return x @ self.tied + jax.random.normal(self.rngs(), x.shape) + noise


@pytest.mark.thorough
@ours_only
@pytest.mark.parametrize("abstract", [False, True], ids=["concrete", "abstract"])
def test_keys_lists_and_shared_parameters_go_through(abstract: bool) -> None:
    model = nnx.eval_shape(Sampler) if abstract else Sampler()
    exported = nnx.export(Sampler.__call__, model, mutable=nnx.RngCount)(inputs())
    read = jax.export.deserialize(exported.serialize())
    sampler = Sampler()
    weights = nnx.named_arrays(sampler)
    assert weights["rngs.default.key"].dtype == jnp.uint32
    assert "tied" not in weights or "layers.10.kernel" not in weights
    for _ in range(2):
        y, updates = read.call(weights, inputs())
        np.testing.assert_allclose(y, sampler(inputs()), rtol=1e-5, atol=1e-5)
        weights |= updates


@ours_only
def test_modules_in_the_result_are_dicts_of_arrays() -> None:
    def both(net: tp.Any, x: jax.Array) -> tp.Any:
        return {"net": net, "state": nnx.state(net, nnx.Param), "kernel": net.kernel}

    net = Net()
    found = nnx.export(both, net)(inputs()).call(nnx.named_arrays(net), inputs())
    assert jax.tree.map(jnp.shape, found) == {
        "net": {"count": (), "kernel": (3, 3)}, "state": {"kernel": (3, 3)}, "kernel": (3, 3),
    }  # fmt: skip


@ours_only
def test_names_that_are_equal_and_values_without_dtype_are_errors() -> None:
    doubled = {"a.b": nnx.Param(jnp.ones(1)), "a": {"b": nnx.Param(jnp.ones(1))}}
    with pytest.raises(nnx.errors.ExportError, match=r"two paths have the name 'a\.b'"):
        nnx.named_arrays(doubled)
    with pytest.raises(nnx.errors.ExportError, match="'a' is str; expected an array"):
        nnx.named_arrays({"a": nnx.Variable("text")})


@pytest.mark.thorough
@ours_only
def test_jax_exports_a_jitted_function_that_takes_a_model() -> None:
    net = Net()
    exported = export(nnx.jit(forward_of), platforms=BACKENDS)(net, inputs())
    np.testing.assert_allclose(
        exported.call(net, inputs()), forward(net.kernel[...], inputs()), rtol=1e-5
    )
    grads = jax.grad(lambda x: exported.call(net, x).sum())(inputs())
    wanted = jax.grad(lambda x: forward(net.kernel[...], x).sum())(inputs())
    np.testing.assert_allclose(grads, wanted, rtol=1e-5)


@ours_only
def test_jax_exports_no_jitted_function_that_changes_or_closes_over_a_model() -> None:
    net = Net()
    with pytest.raises(nnx.errors.ExportError, match="the function changes a Module"):
        export(nnx.jit(call))(net, inputs())
    with pytest.raises(nnx.errors.ExportError, match="the function closes over a Module"):
        export(nnx.jit(lambda x: forward_of(net, x)))(inputs())
    assert net.count[...] == 0
