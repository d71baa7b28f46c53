"""Why something failed, in one line: the error and the place in the user's code."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_LONGEST: Final = 300


def reason_of(error: BaseException, files: Sequence[Path]) -> str:
    """Return the error and where it was raised: the last line in one of the files, if there is one.

    Args:
        error: The error.
        files: The files, or folders of files, that the user looks at.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if _is_in(Path(each.filename), files)]
    place = (ours or frames)[-1:]
    where = f" ({place[0].filename}:{place[0].lineno})" if place else ""
    return f"{first_line(error)}{where}"


def first_line(error: BaseException) -> str:
    """Return the type and the first line of an error's text."""
    lines = [line.strip() for line in f"{error}".strip().splitlines() if line.strip()]
    text = lines[0] if lines else ""
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _is_in(path: Path, files: Sequence[Path]) -> bool:
    return any(path == each or each in path.parents for each in files)
