"""Checks of `examples.fsdp` and `examples.sharded_training` on eight devices; `test_eight_devices.py` runs them."""

from __future__ import annotations

import jax
import numpy as np
import optax
import pytest

import typed_nnx as nnx
from examples import fsdp, sharded_training
from examples.fsdp import DEVICES, build, build_in_parts, mesh_of, part_of_device, train


def test_every_array_lies_where_its_metadata_says() -> None:
    mesh = mesh_of(DEVICES)
    network, optimizer = build_in_parts(mesh, 0)
    state = nnx.state((network, optimizer))
    wanted = nnx.get_named_sharding(state, mesh)
    found = nnx.to_flat_state(state)
    assert len(found) == 6 + 2 * 6 + 2  # parameters, their two moments, two counts of steps
    for (_, array), (path, named) in zip(found, nnx.to_flat_state(wanted), strict=True):
        sharding = array.get_value().sharding
        assert sharding.is_equivalent_to(named.get_value(), array.ndim), path
    assert network.second.kernel[...].addressable_data(0).shape == (32, 256)
    # All but the bias of the last layer, one number, is cut into eight.
    numbers = 17 * 256 + 257 * 256 + 257
    assert part_of_device(network) == pytest.approx(((numbers - 1) / 8 + 1) / numbers)


def test_parts_stay_parts_while_the_network_trains() -> None:
    network, _ = train(2, mesh_of(DEVICES))
    assert part_of_device(network) < 0.13


def test_parts_train_as_a_whole_does() -> None:
    in_parts, losses = train(20, mesh_of(DEVICES))
    whole, alone = train(20, mesh_of(1))
    np.testing.assert_allclose(losses, alone, rtol=1e-4)
    for one, other in zip(
        jax.tree.leaves(nnx.state(in_parts)), jax.tree.leaves(nnx.state(whole)), strict=True
    ):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-2, atol=1e-5)
    assert len(set(losses)) == 20


def test_parts_train_as_a_functional_step_does() -> None:
    with jax.set_mesh(mesh_of(1)):
        network, _ = build(0)

    def forward(params, x):
        for name in ("first", "second"):
            x = jax.nn.relu(x @ params[name]["kernel"] + params[name]["bias"])
        return x @ params["last"]["kernel"] + params["last"]["bias"]

    params = jax.tree.map(np.asarray, nnx.to_pure_dict(nnx.state(network)))
    tx = optax.adam(1e-3)
    opt_state, losses = tx.init(params), []
    for x, y in fsdp.batches(5, 0):
        loss, slopes = jax.value_and_grad(
            lambda params, x=x, y=y: ((forward(params, x) - y) ** 2).mean()
        )(params)
        updates, opt_state = tx.update(slopes, opt_state, params)
        params = optax.apply_updates(params, updates)
        losses.append(float(loss))
    np.testing.assert_allclose(train(5, mesh_of(DEVICES))[1], losses, rtol=1e-4)


def sharded_run(data: int, model: int, steps: int) -> tuple[list[float], list[str]]:
    """Return the losses of a run of `examples.sharded_training`, and what moved or was compiled twice."""
    mesh = sharded_training.mesh_of(data, model)
    rows = jax.NamedSharding(mesh, jax.P("data"))
    with jax.set_mesh(mesh):
        both = sharded_training.build()
    step = sharded_training.pinned_step(*both, rows)

    def shardings() -> dict[str, object]:
        named = nnx.to_flat_state(nnx.state(both))
        return {str(path): leaf.get_value().sharding for path, leaf in named}

    compiled: list[str] = []

    def note(event: str, duration_secs: float, **kwargs: str | int) -> None:
        if "backend_compile" in event and kwargs.get("fun_name") == "jit(train_step)":
            compiled.append(event)

    before = shardings()
    jax.monitoring.register_event_duration_secs_listener(note)
    losses = sharded_training.train(step, *both, range(steps), rows)
    jax.monitoring.unregister_event_duration_listener(note)
    moved = [path for path, where in shardings().items() if where != before[path]]
    return losses, moved + compiled[1:]


def test_a_step_is_compiled_once_and_every_array_stays_where_it_was() -> None:
    losses, problems = sharded_run(2, 4, 5)
    assert not problems
    alone, _ = sharded_run(1, 1, 5)
    np.testing.assert_allclose(losses, alone, rtol=1e-4)
    assert len(set(losses)) == 5


def test_a_run_that_was_stopped_goes_on_with_equal_losses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sharded_training.main(["--steps", "6"])
    said = capsys.readouterr().out
    assert "attention.query.kernel   P(None, 'model'" in said
    assert "up.bias                  P()" in said
    assert "stopped after 3 steps and resumed, with equal losses: True" in said


def test_the_program_says_how_the_arrays_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    fsdp.main(["--steps", "2"])
    said = capsys.readouterr().out
    assert "a device holds 12.5% of the network" in said
    assert "P(None, 'data')" in said
