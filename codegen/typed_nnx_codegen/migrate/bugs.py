"""What is said of an exception that nobody foresaw: a bug of ours must not stop other files."""

from __future__ import annotations

import traceback
from pathlib import Path


def described(error: Exception) -> str:
    """Return which exception it is, and where in our code it came up, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "typed_nnx_codegen" in frame.filename] or list(frames)
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "an unknown place"
    first = str(error).strip().split("\n")[0]
    said = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return f"a bug of typed-nnx migrate: {said} (in {where}); please report it"
