"""A scanned stack computes what a Python loop over its layers does, in a program of fixed size."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import typed_nnx as nnx
from examples import scan_over_layers
from examples.scan_over_layers import Deep, draw_batch


def size_of_gradient(depth: int) -> int:
    """Return how many lines the program of the gradient has."""
    model = Deep(depth, rngs=nnx.Rngs(0))
    x, y = draw_batch(np.random.default_rng(0))
    program = nnx.jit(nnx.grad(scan_over_layers.loss_of)).lower(model, x, y).as_text()
    return len(program.splitlines())


@pytest.mark.thorough
def test_layers_start_from_different_parameters() -> None:
    model = Deep(5, rngs=nnx.Rngs(0))
    kernels = np.asarray(model.layers.grow.kernel[...])
    assert kernels.shape == (5, scan_over_layers.WIDTH, 2 * scan_over_layers.WIDTH)
    assert len({kernel.tobytes() for kernel in kernels}) == 5


@pytest.mark.thorough
def test_the_scan_computes_what_the_loop_does() -> None:
    model = Deep(5, rngs=nnx.Rngs(0))
    x, _ = draw_batch(np.random.default_rng(0))
    np.testing.assert_allclose(
        np.asarray(model(x)), np.asarray(model.by_hand(x)), rtol=1e-5, atol=1e-5
    )


@pytest.mark.thorough
def test_the_slopes_of_the_scan_are_those_of_the_loop() -> None:
    model = Deep(3, rngs=nnx.Rngs(0))
    x, _ = draw_batch(np.random.default_rng(0))
    by_scan = nnx.grad(lambda model: (model(x) ** 2).mean())(model)
    by_loop = nnx.grad(lambda model: (model.by_hand(x) ** 2).mean())(model)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5), by_scan, by_loop
    )


@pytest.mark.thorough
def test_the_program_does_not_grow_with_the_depth() -> None:
    assert size_of_gradient(3) == size_of_gradient(9)


def test_layers_are_computed_again_for_the_gradient() -> None:
    model = Deep(3, rngs=nnx.Rngs(0))
    x, y = draw_batch(np.random.default_rng(0))
    slopes_of = nnx.grad(scan_over_layers.loss_of)
    program = str(jax.make_jaxpr(lambda x: nnx.to_pure_dict(slopes_of(model, x, y)))(x))
    assert "remat" in program or "checkpoint" in program


@pytest.mark.slow
def test_twelve_layers_learn() -> None:
    _, losses = scan_over_layers.train(500)
    assert np.mean(losses[-50:]) < 0.2 * np.mean(losses[:20])


@pytest.mark.thorough
def test_four_layers_learn() -> None:
    _, losses = scan_over_layers.train(60, depth=4)
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])


@pytest.mark.thorough
def test_the_program_compares_scan_and_loop(capsys: pytest.CaptureFixture[str]) -> None:
    scan_over_layers.main(["--steps", "2", "--depth", "3"])
    said = capsys.readouterr().out
    assert "3 layers by scan" in said
    assert "3 layers by Python loop" in said
