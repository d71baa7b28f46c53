"""What mypy's cache of a module depends on beside its source: the code that wrote facts into it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from mypy.plugin import ReportConfigContext

from typed_nnx_codegen.facts.names import runtime_of

FACTS: Final = Path(__file__).parent
"""The folder of this package, which each digest of a user of it has to cover."""

# Nothing in them is about NNX (flax here without its nnx), and they are most of what mypy reads:
# it keeps what it found in them whatever the plugin and its settings are.
_WITHOUT_NNX = frozenset({"absl", "flax", "jax", "jaxlib", "ml_dtypes", "numpy"})
_TYPESHED = str(Path("mypy", "typeshed", "stdlib"))


def digest_of(*places: Path) -> str:
    """Return a digest of files and of the sources in folders; one that is not there is empty."""
    found = hashlib.sha1(usedforsecurity=False)
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


def may_have_models(ctx: ReportConfigContext) -> bool:
    """Tell whether a module may be about NNX."""
    is_library = ctx.id.partition(".")[0] in _WITHOUT_NNX or _TYPESHED in ctx.path
    return bool(runtime_of(ctx.id)) or not is_library
