"""The autoencoder learns what digits look like."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from examples import vae
from examples.vae import Gaussian


@pytest.fixture(scope="module")
def trained() -> tuple[vae.VAE, list[float]]:
    return vae.train(200)


def test_the_divergence_is_that_of_a_sum_over_a_fine_grid() -> None:
    mean, log_variance = 0.7, -0.4
    x = np.linspace(-12, 12, 20001)
    variance = np.exp(log_variance)
    log_q = -0.5 * ((x - mean) ** 2 / variance + np.log(2 * np.pi) + log_variance)
    log_p = -0.5 * (x**2 + np.log(2 * np.pi))
    wanted = np.sum(np.exp(log_q) * (log_q - log_p)) * (x[1] - x[0])
    found = Gaussian(jnp.array([[mean, 0.0]]), jnp.array([[log_variance, 0.0]])).divergence()
    np.testing.assert_allclose(np.asarray(found), [wanted], rtol=1e-5)


@pytest.mark.thorough
def test_the_bound_improves_beyond_a_model_of_independent_pixels(
    trained: tuple[vae.VAE, list[float]],
) -> None:
    _, losses = trained
    share = vae.load().mean(0).clip(1e-6, 1 - 1e-6)
    independent = -(share * np.log(share) + (1 - share) * np.log(1 - share)).sum()
    assert losses[0] > independent
    assert np.mean(losses[-10:]) < independent - 1.0


@pytest.mark.thorough
def test_images_come_back_nearer_to_themselves_than_to_the_mean(
    trained: tuple[vae.VAE, list[float]],
) -> None:
    model, _ = trained
    images = vae.load()
    thought = model.encoder(jnp.asarray(images))
    back = np.asarray(jax.nn.sigmoid(model.decoder(thought.mean)))
    assert ((back - images) ** 2).mean() < 0.5 * images.var(axis=0).mean()


@pytest.mark.thorough
def test_each_drawing_is_another_one(trained: tuple[vae.VAE, list[float]]) -> None:
    model = nnx.clone(trained[0])
    one, other = np.asarray(model.draw(2)), np.asarray(model.draw(2))
    assert one.shape == (2, vae.PIXELS)
    assert one.min() >= 0.0
    assert one.max() <= 1.0
    assert len({image.tobytes() for image in (*one, *other)}) == 4


@pytest.mark.thorough
def test_noise_is_drawn_anew_in_each_compiled_step(trained: tuple[vae.VAE, list[float]]) -> None:
    model = nnx.clone(trained[0])
    loss = nnx.jit(vae.loss_of)
    images = jnp.asarray(vae.load()[:8])
    assert len({float(loss(model, images)) for _ in range(3)}) == 3


@pytest.mark.thorough
def test_the_program_prints_three_drawings(capsys: pytest.CaptureFixture[str]) -> None:
    vae.main(["--steps", "2"])
    loss, *drawing = capsys.readouterr().out.splitlines()
    assert loss.startswith("loss in nats per image")
    assert len(drawing) == 3 * 9
    assert {len(line) for line in drawing} == {0, 16}
