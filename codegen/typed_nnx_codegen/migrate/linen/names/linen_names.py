"""The names of Linen that NNX has too."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.analysis.name_lookup import has_name
from typed_nnx_codegen.migrate.linen.modules.classes import LINEN

# Names of Linen that NNX calls differently.
_OTHERS: Final = {
    "flax.linen.Module": "nnx.Module",
    "flax.linen.initializers": "nnx.initializers",
    "flax.linen.PReLU": "nnx.PReLU",
    "flax.linen.with_logical_partitioning": "nnx.with_partitioning",
}
# Names that are in both and are not the same.
_DIFFERENT: Final = frozenset({"scan", "vmap", "jit", "remat", "cond", "switch", "while_loop"})


def nnx_name(public: str) -> str:
    """Return the name in NNX of something of Linen: `nnx.relu`; empty where there is none."""
    if public in _OTHERS:
        return _OTHERS[public]
    if not public.startswith(f"{LINEN}."):
        return ""
    name = public.removeprefix(f"{LINEN}.")
    if name.partition(".")[0] in _DIFFERENT:
        return ""
    is_there = all(has_name(runtime, name) for runtime in ("typed_nnx", "flax.nnx"))
    return f"nnx.{name}" if is_there else ""
