"""Sharded training on eight devices; `test_on_devices.py` runs this file in a process.

By hand: ``XLA_FLAGS=--xla_force_host_platform_device_count=8 pytest <this file>``.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.training.models import FLAX, OURS, both


def mesh_of(kind: AxisType = AxisType.Auto) -> Mesh:
    """Lay the eight devices out as two rows of data by four columns of the model."""
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(kind, kind))


def network(lib: Any) -> Any:
    """Make two layers, cut by columns and by rows where a mesh is in use."""

    class Block(lib.Module):
        def __init__(self) -> None:
            up, down = jnp.sin(jnp.arange(32.0)), jnp.cos(jnp.arange(32.0))
            self.up = lib.Param(up.reshape(4, 8), out_sharding=(None, "model"))
            self.down = lib.Param(down.reshape(8, 4), out_sharding=("model", None))
            self.bias = lib.Param(jnp.zeros(4))

        def __call__(self, x: jax.Array) -> jax.Array:
            return jnp.tanh(x @ self.up[...]) @ self.down[...] + self.bias[...]

    return Block()


def cut(mesh: Mesh) -> dict[str, NamedSharding]:
    """Return where the weights lie."""
    return {
        "up": NamedSharding(mesh, P(None, "model")),
        "down": NamedSharding(mesh, P("model", None)),
    }


def assert_cut(state: Any, mesh: Mesh) -> None:
    """Assert that the weights, or what stands in their places, lie where the metadata says."""
    for name, sharding in cut(mesh).items():
        array = state[name][...]
        assert array.sharding.is_equivalent_to(sharding, array.ndim), (name, array.sharding)
        assert len(array.addressable_shards) == 8
        assert array.addressable_shards[0].data.size == array.size // 4


def step(lib: Any) -> Any:
    """Return a training step."""

    def run(model: Any, opt: Any, x: jax.Array) -> Any:
        def loss(model: Any, x: jax.Array) -> jax.Array:
            return jnp.square(model(x)).mean()

        value, grads = lib.value_and_grad(loss)(model, x)
        opt.update(model, grads)
        return value

    return run


def inputs() -> jax.Array:
    """Return float [8, 4]."""
    return jnp.cos(jnp.arange(32.0) / 5).reshape(8, 4)


def unsharded(tx: Any) -> tuple[list[float], Any]:
    """Train on one device, with optax alone."""
    up, down = jnp.sin(jnp.arange(32.0)), jnp.cos(jnp.arange(32.0))
    params = {"up": up.reshape(4, 8), "down": down.reshape(8, 4), "bias": jnp.zeros(4)}
    state, losses = tx.init(params), []

    def loss(params: Any) -> jax.Array:
        hidden = jnp.tanh(inputs() @ params["up"])
        return jnp.square(hidden @ params["down"] + params["bias"]).mean()

    for _ in range(3):
        value, grads = jax.value_and_grad(loss)(params)
        updates, state = tx.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        losses.append(float(value))
    return losses, params


def test_there_are_eight_devices() -> None:
    assert len(jax.devices()) == 8


@both
def test_the_state_of_an_optimizer_lies_where_its_params_lie(lib: Any) -> None:
    mesh = mesh_of()
    with jax.set_mesh(mesh):
        model = network(lib)
        opt = lib.Optimizer(model, optax.adam(0.1), wrt=lib.Param)
    assert_cut(model.__dict__, mesh)
    for moment in (opt.opt_state[0].mu, opt.opt_state[0].nu):
        assert_cut(moment, mesh)
        assert moment.up.out_sharding == (None, "model")


@both
@pytest.mark.parametrize("donate", [(), (0, 1)], ids=["kept", "donated"])
def test_sharded_training_stays_sharded_and_equals_that_of_one_device(
    lib: Any, donate: Any
) -> None:
    mesh = mesh_of()
    with jax.set_mesh(mesh):
        model = network(lib)
        opt = lib.Optimizer(model, optax.adam(0.1), wrt=lib.Param)
        x = jax.device_put(inputs(), NamedSharding(mesh, P("data")))
        run = lib.jit(step(lib), donate_argnums=donate)
        losses = [float(run(model, opt, x)) for _ in range(3)]
    wanted, params = unsharded(optax.adam(0.1))
    np.testing.assert_allclose(losses, wanted, 1e-5)
    for name, value in params.items():
        np.testing.assert_allclose(getattr(model, name)[...], value, 1e-4, 1e-5)
    assert_cut(model.__dict__, mesh)
    assert_cut(opt.opt_state[0].mu, mesh)
    assert_cut(opt.opt_state[0].nu, mesh)


def test_an_eager_step_keeps_the_shardings() -> None:
    mesh = mesh_of()
    with jax.set_mesh(mesh):
        model = network(OURS)
        opt = OURS.Optimizer(model, optax.adam(0.1), wrt=OURS.Param)
        losses = [float(step(OURS)(model, opt, inputs())) for _ in range(3)]
    np.testing.assert_allclose(losses, unsharded(optax.adam(0.1))[0], 1e-5)
    assert_cut(model.__dict__, mesh)
    assert_cut(opt.opt_state[0].mu, mesh)


def test_model_and_optimizer_are_made_sharded_in_jit() -> None:
    mesh, tx = mesh_of(), optax.adam(0.1)

    @nnx.jit
    def create() -> Any:
        model = network(OURS)
        return model, OURS.Optimizer(model, tx, wrt=OURS.Param)

    with jax.set_mesh(mesh):
        model, opt = create()
    assert_cut(vars(model), mesh)
    assert_cut(opt.opt_state[0].mu, mesh)


def test_averages_lie_where_the_params_lie() -> None:
    mesh = mesh_of()
    with jax.set_mesh(mesh):
        model = network(OURS)
        average = OURS.EMA(model, 0.9)
        average.update(model)
        nnx.jit(lambda average, model: average.update(model))(average, model)
    assert_cut(average.params, mesh)
    assert_cut(vars(average.apply_to(model)), mesh)


def test_shardings_of_opt_variables_are_those_of_flax() -> None:
    shown = []
    for lib in (OURS, FLAX):
        with jax.set_mesh(mesh_of()):
            opt = lib.Optimizer(network(lib), optax.adam(0.1), wrt=lib.Param)
        shown.append(
            [(path, str(leaf[...].sharding)) for path, leaf in lib.to_flat_state(lib.state(opt))]
        )
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    "tx",
    [
        optax.adafactor(0.01, min_dim_size_to_factor=2),
        optax.lbfgs(0.01, memory_size=3, linesearch=None),
    ],
    ids=["factors", "histories"],
)
def test_a_state_with_other_axes_than_its_params_is_not_cut_like_them(tx: Any) -> None:
    mesh = mesh_of()
    with jax.set_mesh(mesh):
        model = network(OURS)
        opt = OURS.Optimizer(model, tx, wrt=OURS.Param)
        run = nnx.jit(step(OURS))
        losses = [float(run(model, opt, inputs())) for _ in range(3)]
    np.testing.assert_allclose(losses, unsharded(tx)[0], 1e-4)
    assert_cut(vars(model), mesh)


def test_an_optimizer_made_without_a_mesh_in_force_lies_where_its_params_lie() -> None:
    mesh = mesh_of()
    with jax.set_mesh(mesh):
        model = network(OURS)
    assert_cut(OURS.Optimizer(model, optax.adam(0.1), wrt=OURS.Param).opt_state[0].mu, mesh)


@both
def test_the_state_of_an_optimizer_may_be_cut_in_another_way(lib: Any) -> None:
    mesh = mesh_of()
    with jax.set_mesh(mesh):
        model = lib.Linear(
            4, 8, rngs=lib.Rngs(0), kernel_metadata={"optimizer_sharding": ("data", "model")}
        )
        opt = lib.Optimizer(model, optax.adam(0.1), wrt=lib.Param)
        moment = opt.opt_state[0].mu["kernel"]
        assert moment[...].sharding.is_equivalent_to(NamedSharding(mesh, P("data", "model")), 2)
        assert moment.get_metadata("out_sharding") == ("data", "model")
        assert model.kernel[...].sharding.is_fully_replicated
        grads = jax.tree.map(jnp.ones_like, lib.state(model, lib.Param))
        opt.update(model, grads)
    assert opt.opt_state[0].mu["kernel"][...].sharding.spec == P("data", "model")
