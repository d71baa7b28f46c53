"""What every test runs under: jax's strict promotion rules, so that no test passes by accident."""

from __future__ import annotations

import jax

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
