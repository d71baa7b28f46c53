"""Full names of mypy turned into the public names that the plugin knows.

A public name does not depend on the runtime or on the file that defines it: ``split`` for
``typed_nnx._graph.split.split`` and ``flax.nnx.graphlib.split``, ``Optimizer.update`` for a
method, ``jax.tree.map`` for ``jax._src.tree.map``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# The packages of each runtime; `flax.experimental.nnx` is the name before flax 0.10.
RUNTIMES: Final = {"typed_nnx": ("typed_nnx",), "flax.nnx": ("flax.nnx", "flax.experimental.nnx")}

# Where jax defines what it offers; the public name is what users write.
JAX: Final = {
    "jax._src.ad_checkpoint.checkpoint": "jax.checkpoint",
    "jax._src.api.block_until_ready": "jax.block_until_ready",
    "jax._src.api.device_put": "jax.device_put",
    "jax._src.api.eval_shape": "jax.eval_shape",
    "jax._src.api.grad": "jax.grad",
    "jax._src.api.hessian": "jax.hessian",
    "jax._src.api.jacfwd": "jax.jacfwd",
    "jax._src.api.jacrev": "jax.jacrev",
    "jax._src.api.jit": "jax.jit",
    "jax._src.api.jvp": "jax.jvp",
    "jax._src.api.linearize": "jax.linearize",
    "jax._src.api.make_jaxpr": "jax.make_jaxpr",
    "jax._src.api.value_and_grad": "jax.value_and_grad",
    "jax._src.api.vjp": "jax.vjp",
    "jax._src.api.vmap": "jax.vmap",
    "jax._src.pjit.JitWrapped.__call__": "jax.JitWrapped.__call__",
    "jax._src.pjit.with_sharding_constraint": "jax.lax.with_sharding_constraint",
    "jax._src.lax.control_flow.conditionals.cond": "jax.lax.cond",
    "jax._src.lax.control_flow.conditionals.switch": "jax.lax.switch",
    "jax._src.lax.control_flow.loops.associative_scan": "jax.lax.associative_scan",
    "jax._src.lax.control_flow.loops.fori_loop": "jax.lax.fori_loop",
    "jax._src.lax.control_flow.loops.map": "jax.lax.map",
    "jax._src.lax.control_flow.loops.scan": "jax.lax.scan",
    "jax._src.lax.control_flow.loops.while_loop": "jax.lax.while_loop",
    "jax._src.pmap.pmap": "jax.pmap",
    "jax._src.shard_map.shard_map": "jax.shard_map",
    "jax._src.tree.map": "jax.tree.map",
    "jax._src.tree.map_with_path": "jax.tree.map_with_path",
    "jax._src.tree_util.tree_map": "jax.tree.map",
    "jax._src.tree_util.tree_map_with_path": "jax.tree.map_with_path",
}

# The classes of Variables that models make.
VARIABLES: Final = ("Variable", "Param", "BatchStat", "Cache", "Intermediate", "Perturbation")

OWN_VARIABLE: Final = "a Variable"
"""What a class of Variables of a user is called."""
# Metadata of Variables that is called.
HOOKS: Final = ("on_add_axis", "on_create_value", "on_get_value", "on_remove_axis", "on_set_value")

PARTIAL: Final = "functools.partial"
# Partials of transforms; mypy's own plugin has hooks on them too.
PARTIALS: Final = (PARTIAL, f"{PARTIAL}.__call__")


@dataclass(frozen=True)
class Name:
    """A name that the plugin may know.

    Attributes:
        public: The public name.
        runtime: The runtime that defines it: a key of `RUNTIMES`, "jax" or "python".
    """

    public: str
    runtime: str


_PACKAGES: Final = tuple(package for packages in RUNTIMES.values() for package in packages)


def runtime_of(fullname: str) -> str:
    """Return the runtime that a module or full name is part of; empty where it is none's."""
    if not fullname.startswith(_PACKAGES):
        return ""  # nearly always
    for runtime, packages in RUNTIMES.items():
        for package in packages:
            if fullname == package or fullname.startswith(package + "."):
                return runtime
    return ""


def name_of(fullname: str) -> Name | None:
    """Return the public name of a full name; None where it is neither a runtime's nor jax's."""
    if fullname.startswith("jax."):
        public = JAX.get(fullname)
        return Name(public, "jax") if public is not None else None
    runtime = runtime_of(fullname)
    if not runtime:
        return None
    owner, _, last = fullname.rpartition(".")
    above = owner.rpartition(".")[2]
    is_method = above.lstrip("_")[:1].isupper()
    return Name(f"{above}.{last}" if is_method else last, runtime)


def is_named(fullname: str, *public: str) -> bool:
    """Tell whether a full name has one of some public names."""
    name = name_of(fullname)
    return name is not None and name.public in public
