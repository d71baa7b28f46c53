"""The exit codes: the same ones mean the same in every command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OK: Final = 0
FINDINGS: Final = 1
COULD_NOT_RUN: Final = 2
BUG: Final = 70
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

MEANINGS: Final[Mapping[int, str]] = {
    OK: "done, or nothing to do",
    FINDINGS: "something was found: changes that are needed, differences, files that failed",
    COULD_NOT_RUN: "it could not run: wrong use, input that cannot be read, a missing package",
    BUG: "a bug of typed-nnx; the message says where the traceback is",
    INTERRUPTED: "interrupted with Ctrl-C",
    BROKEN_PIPE: "the reader of the output closed it, as in `typed-nnx rules | head -1`",
}
"""What they mean in general; the page of a command says what they mean there."""
