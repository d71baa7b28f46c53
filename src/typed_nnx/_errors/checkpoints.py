"""Errors of checkpoints: where they are, what is in them, what can be put into them."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from typed_nnx._errors.counts import counted
from typed_nnx._errors.public import public

Path = tuple[object, ...]

SHOWN = 100


@public
class CheckpointError(ValueError):
    """A path, or what is asked of it, makes no sense for a checkpoint.

    Args:
        function: The function that was called.
        path: The path of the checkpoint.
        problem: What is wrong, as the end of a sentence about the path.
        fix: What to do.
    """

    def __init__(self, function: str, path: str, problem: str, fix: str) -> None:
        super().__init__(function, path, problem, fix)
        self.function = function
        self.path = path
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.function}: {self.path!r} {self.problem}.\n  Fix: {self.fix}"


@public
class CheckpointNotFoundError(CheckpointError, FileNotFoundError):
    """There is no checkpoint: nothing at all, or nothing that was written to its end.

    Args:
        function: The function that was called.
        path: The path of the checkpoint.
        found: What is there, as the end of a sentence about the path.
    """

    errno: int | None
    filename: str

    def __init__(self, function: str, path: str, found: str = "does not exist") -> None:
        super().__init__(function, path, found, "give the path that a finished save wrote to")
        self.found = found
        self.errno, self.filename = errno.ENOENT, path

    def __reduce__(self) -> tuple[type[CheckpointNotFoundError], tuple[str, str, str]]:
        return type(self), (self.function, self.path, self.found)


@public
class CheckpointExistsError(CheckpointError, FileExistsError):
    """There is a checkpoint already, and nobody asked for it to be replaced.

    Args:
        function: The function that was called.
        path: The path of the checkpoint.
        fix: What to do.
    """

    errno: int | None
    filename: str

    def __init__(self, function: str, path: str, fix: str) -> None:
        super().__init__(function, path, "holds a checkpoint already", fix)
        self.errno, self.filename = errno.EEXIST, path

    def __reduce__(self) -> tuple[type[CheckpointExistsError], tuple[str, str, str]]:
        return type(self), (self.function, self.path, self.fix)


@public
class CheckpointDamagedError(CheckpointError):
    """A checkpoint cannot be read: a file is truncated, changed or gone.

    Args:
        function: The function that was called.
        path: The path of the checkpoint.
        detail: What went wrong.
    """

    def __init__(self, function: str, path: str, detail: str) -> None:
        problem = f"is damaged and cannot be read ({detail})"
        super().__init__(function, path, problem, "restore another checkpoint, or save it again")
        self.detail = detail

    def __reduce__(self) -> tuple[type[CheckpointDamagedError], tuple[str, str, str]]:
        return type(self), (self.function, self.path, self.detail)


@public
class CheckpointSaveError(CheckpointError):
    """Writing a checkpoint failed; the checkpoints that were there before are as they were.

    Args:
        function: The function that was called.
        path: The path of the checkpoint.
        detail: What went wrong.
    """

    def __init__(self, function: str, path: str, detail: str) -> None:
        problem = f"could not be written ({detail})"
        super().__init__(
            function, path, problem, "see the cause above; earlier checkpoints are intact"
        )
        self.detail = detail

    def __reduce__(self) -> tuple[type[CheckpointSaveError], tuple[str, str, str]]:
        return type(self), (self.function, self.path, self.detail)


@public
class CheckpointLeafError(TypeError, ValueError):
    """Some leaves cannot be in a checkpoint.

    Args:
        function: The function that was called.
        leaves: Path and kind of each of them.
        fix: What to do.
    """

    def __init__(self, function: str, leaves: Sequence[tuple[Path, str]], fix: str) -> None:
        super().__init__(function, leaves, fix)
        self.function = function
        self.leaves = leaves
        self.fix = fix

    def __str__(self) -> str:
        lines = [f"\n  at {path!r}: {kind}" for path, kind in self.leaves]
        return (
            f"{self.function}: {counted(len(self.leaves), 'leaf', 'leaves')} cannot be in a "
            f"checkpoint.{_shown(lines)}\n  Fix: {self.fix}"
        )


@public
class CheckpointMismatchError(ValueError):
    """A checkpoint and what it is to be restored into differ; nothing was changed.

    Args:
        function: The function that was called.
        path: The path of the checkpoint.
        target: The name of the type of what it was to be restored into.
        missing: Path and what is expected, for leaves that the checkpoint has not.
        extra: Path and what was found, for leaves that only the checkpoint has.
        wrong: Path, what is expected and what was found, for leaves that differ.
    """

    def __init__(
        self,
        function: str,
        path: str,
        target: str,
        missing: Sequence[tuple[Path, str]],
        extra: Sequence[tuple[Path, str]],
        wrong: Sequence[tuple[Path, str, str]],
    ) -> None:
        super().__init__(function, path, target, missing, extra, wrong)
        self.function = function
        self.path = path
        self.target = target
        self.missing = missing
        self.extra = extra
        self.wrong = wrong

    def __str__(self) -> str:
        lines = [
            *(f"\n  missing at {path!r}: expected {expected}, found nothing" for path, expected in self.missing),
            *(f"\n  extra at {path!r}: expected nothing, found {found}" for path, found in self.extra),
            *(
                f"\n  wrong at {path!r}: expected {expected}, found {found}"
                for path, expected, found in self.wrong
            ),
        ]  # fmt: skip
        return (
            f"{self.function}: the checkpoint {self.path!r} does not fit {self.target}; "
            f"{counted(len(lines), 'leaf differs', 'leaves differ')}. Nothing was changed."
            f"{_shown(lines)}\n  Fix: {self._fix()}"
        )

    def _fix(self) -> str:
        if self.missing or self.wrong:
            return (
                "build the model with the arguments of the saved one, or restore a part of it "
                "with filters: restore(path, model, nnx.Param)"
            )
        return "to leave out what only the checkpoint has, say `...`: restore(path, model, ...)"


def _shown(lines: list[str]) -> str:
    more = f"\n  ... and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    return "".join(lines[:SHOWN]) + more
