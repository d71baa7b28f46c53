"""Rules for the tests of `custom_vjp`: they give ten times the gradient, so that their use shows."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tests.transforms.gradient_models import X, affine, affine_values, close, forward


def cotangent(lib, mode, like, kernel, shift):
    """Make what a rule returns for an Affine: a State by default, else a Module."""
    made = affine(lib)
    made.kernel[...] = kernel
    made.shift[...] = shift
    made.calls[...] = jnp.zeros_like(like)
    return made if mode else lib.state(made)


def of_result(mode, g):
    """Return the cotangent of the result: by default those of the changed arguments come first."""
    return g if mode else g[1]


def scaled(lib, mode, seen=None, **options):
    """Make a rule whose gradients are ten times the true ones, so that its use shows."""

    def plain(model, x):
        return model(x)

    function = lib.custom_vjp(plain, **options, **mode)

    def fwd(model, x):
        kept = model.kernel[...], model.shift[...], model.calls[...], x
        return function(model, x), kept

    def bwd(kept, g):
        if seen is not None:
            seen.append(g)
        kernel, shift, calls, x = kept
        _, pull = jax.vjp(forward, {"kernel": kernel, "shift": shift}, x)
        by_values, by_x = pull(10.0 * of_result(mode, g))
        return cotangent(lib, mode, calls, **by_values), by_x

    function.defvjp(fwd, bwd)
    return function


def expected_gradients(factor=1.0):
    """Return ten times the gradient of jax."""
    found = jax.grad(lambda v, x: factor * forward(v, x), argnums=(0, 1))(affine_values(), X)
    return jax.tree.map(lambda leaf: 10.0 * leaf, found)


def agrees(found, expected):
    close(found[0].kernel[...], expected[0]["kernel"])
    close(found[0].shift[...], expected[0]["shift"])
    close(found[1], expected[1])
