"""Each transform as a call: `CALLS[name](lib, f, model, x)` runs ``f(model, x)`` once.

`f` returns an array like `x`. The functions around it are defined anew at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def _shard_map(lib: Any, f: Any, model: Any, x: Any) -> Any:
    mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    return lib.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P())(model, x)


def _scan(lib: Any, f: Any, model: Any, x: Any) -> Any:
    axes = (lib.Carry, 0)
    run = lib.scan(lambda model, x: (model, f(model, x)), in_axes=axes, out_axes=axes)
    return run(model, x[None])[1][0]


def _while_loop(lib: Any, f: Any, model: Any, x: Any) -> Any:
    def step(carry: Any) -> Any:
        model, i, x = carry
        return model, i + 1, f(model, x)

    return lib.while_loop(lambda carry: carry[1] < 1, step, (model, jnp.array(0), x))[2]


def _fori_loop(lib: Any, f: Any, model: Any, x: Any) -> Any:
    return lib.fori_loop(0, 1, lambda i, carry: (carry[0], f(*carry)), (model, x))[1]


def _switch(lib: Any, f: Any, model: Any, x: Any) -> Any:
    others = [lambda model, x: x * 0, lambda model, x: x * 1]
    return lib.switch(1, [others[0], lambda model, x: f(model, x), others[1]], model, x)


CALLS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "eager": lambda lib, f, m, x: f(m, x),
    "jit": lambda lib, f, m, x: lib.jit(f)(m, x),
    "cached_partial": lambda lib, f, m, x: lib.cached_partial(lib.jit(f), m)(x),
    "remat": lambda lib, f, m, x: lib.remat(lambda m, x: f(m, x))(m, x),
    "vmap": lambda lib, f, m, x: lib.vmap(f, in_axes=(None, 0))(m, x[None])[0],
    "pmap": lambda lib, f, m, x: lib.pmap(f, in_axes=(None, 0))(m, x[None])[0],
    "shard_map": _shard_map,
    "checkify": lambda lib, f, m, x: lib.checkify(f)(m, x)[1],
    "scan": _scan,
    "cond": lambda lib, f, m, x: lib.cond(True, lambda m, x: f(m, x), lambda m, x: x * 0, m, x),
    "switch": _switch,
    "while_loop": _while_loop,
    "fori_loop": _fori_loop,
}
