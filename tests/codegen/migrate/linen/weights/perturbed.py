"""Linen variables with noise, so that zeros and ones hide no mistake."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def perturbed(variables: Any) -> Any:
    """Return variables whose floats are changed by up to a third; positive ones stay positive."""
    random = np.random.default_rng(0)

    def change(value: Any) -> Any:
        if not jnp.issubdtype(value.dtype, jnp.floating):
            return value
        factor = random.uniform(0.7, 1.3, value.shape)
        noise = random.uniform(0.01, 0.3, value.shape)
        changed = np.where(np.asarray(value) == 0, noise, np.asarray(value) * factor)
        return jnp.asarray(changed, value.dtype)

    return jax.tree.map(change, variables)
