"""The runtimes that ``[tool.typed_nnx]`` names: whether a project is to stay on flax.nnx."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final, Literal, cast

_TYPED: Final = "typed_nnx"
_FLAX: Final = "flax.nnx"

Runtime = Literal["typed_nnx", "flax.nnx"]


def wanted_runtime(start: Path) -> Runtime:
    """Return what the code in a folder is to run on: flax.nnx where its settings name that alone.

    The plugin says what is wrong with settings; here they are as good as none.
    """
    folder = start.absolute()
    paths = [each / "pyproject.toml" for each in (folder, *folder.parents)]
    path = next((each for each in paths if each.is_file()), None)
    if path is None:
        return _TYPED
    try:
        tool: object = tomllib.loads(path.read_text(encoding="utf-8")).get("tool")
    except (OSError, ValueError):
        return _TYPED
    ours = cast("dict[str, object]", tool).get(_TYPED) if isinstance(tool, dict) else None
    named = cast("dict[str, object]", ours).get("runtimes") if isinstance(ours, dict) else None
    return _FLAX if named == [_FLAX] else _TYPED
