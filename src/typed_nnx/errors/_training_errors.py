"""Errors of optimizers, checkpoints, summaries and the bridge to Linen."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Self

from typed_nnx.errors._base_error import Error, Path, Problem, counted, listed

# -- optimizers --------------------------------------------------------------------------------


class OptimizerError(Problem, TypeError, AttributeError):
    """An optimizer was made or used without what it needs."""


class ChangedModelError(Error, ValueError, TypeError):
    """A model has other parameters than it had when its optimizer was made.

    Attributes:
        function: The function that was called.
        appeared: Paths of parameters that the state of the optimizer does not have.
        vanished: Paths that it has, and at which there is nothing to update.
        reshaped: Path, shape then and shape now, for parameters that differ.
    """

    function: str
    appeared: Sequence[Path]
    vanished: Sequence[Path]
    reshaped: Sequence[tuple[Path, object, object]]

    def message(self) -> str:
        """Return the text."""
        parts = [
            f"{self.function}: the model has other parameters than when the optimizer was made; "
            "nothing was updated."
        ]
        if self.appeared:
            parts.append(f"  new, and unknown to the optimizer:{listed(self.appeared)}")
        if self.vanished:
            parts.append(f"  gone from the model:{listed(self.vanished)}")
        if self.reshaped:
            lines = [f"{path!r}: {then} then, {now} now" for path, then, now in self.reshaped]
            parts.append(f"  of another shape:{listed(lines)}")
        parts.append(
            "  Fix: make the optimizer after the layers are replaced: "
            "optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)"
        )
        return "\n".join(parts)


# -- checkpoints -------------------------------------------------------------------------------


class CheckpointError(Error, ValueError):
    """A path, or what is asked of it, makes no sense for a checkpoint.

    Attributes:
        function: The function that was called.
        path: The path of the checkpoint.
        problem: What is wrong, as the end of a sentence about the path.
        fix: What to do.
    """

    function: str
    path: str
    problem: str
    fix: str
    template = "{function}: {path!r} {problem}.\n  Fix: {fix}"


class CheckpointNotFoundError(CheckpointError, FileNotFoundError):
    """There is no checkpoint: nothing at all, or nothing that was written completely.

    Attributes:
        function: The function that was called.
        path: The path of the checkpoint.
        problem: What is there, as the end of a sentence about the path.
        fix: What to do.
    """

    def __init__(
        self,
        function: str,
        path: str,
        problem: str = "does not exist",
        fix: str = "give the path that a finished save wrote to",
    ) -> None:
        super().__init__(function, path, problem, fix)
        _set_file(self, errno.ENOENT, path)


class CheckpointExistsError(CheckpointError, FileExistsError):
    """There is a checkpoint already, and nobody asked to replace it.

    Attributes:
        function: The function that was called.
        path: The path of the checkpoint.
        problem: What is there, as the end of a sentence about the path.
        fix: What to do.
    """

    def __init__(
        self,
        function: str,
        path: str,
        problem: str = "holds a checkpoint already",
        fix: str = "save(path, model, overwrite=True)",
    ) -> None:
        super().__init__(function, path, problem, fix)
        _set_file(self, errno.EEXIST, path)


class CheckpointDamagedError(CheckpointError):
    """A checkpoint cannot be read: a file is truncated, changed or missing.

    Attributes:
        function: The function that was called.
        path: The path of the checkpoint.
        problem: What went wrong.
        fix: What to do.
    """

    fix: str = "restore another checkpoint, or save it again"
    template = "{function}: {path!r} is damaged and cannot be read ({problem}).\n  Fix: {fix}"


class CheckpointSaveError(CheckpointError):
    """Writing a checkpoint failed; earlier checkpoints are unchanged.

    Attributes:
        function: The function that was called.
        path: The path of the checkpoint.
        problem: What went wrong.
        fix: What to do.
    """

    fix: str = "see the cause above; earlier checkpoints are intact"
    template = "{function}: {path!r} could not be written ({problem}).\n  Fix: {fix}"


class CheckpointLeafError(Error, TypeError, ValueError):
    """Some leaves cannot be in a checkpoint.

    Attributes:
        function: The function that was called.
        leaves: Path and kind of each of them.
        fix: What to do.
    """

    function: str
    leaves: Sequence[tuple[Path, str]]
    fix: str

    def message(self) -> str:
        """Return the text."""
        lines = [f"at {path!r}: {kind}" for path, kind in self.leaves]
        return (
            f"{self.function}: {counted(len(lines), 'leaf', 'leaves')} cannot be in a checkpoint."
            f"{_shown(lines)}\n  Fix: {self.fix}"
        )


class CheckpointMismatchError(Error, ValueError):
    """A checkpoint and what it is to be restored into differ; nothing was changed.

    Attributes:
        function: The function that was called.
        path: The path of the checkpoint.
        target: The name of the type of what it was to be restored into.
        missing: Path and what is expected, for leaves that the checkpoint lacks.
        extra: Path and what was found, for leaves that only the checkpoint has.
        wrong: Path, what is expected and what was found, for leaves that differ.
    """

    function: str
    path: str
    target: str
    missing: Sequence[tuple[Path, str]]
    extra: Sequence[tuple[Path, str]]
    wrong: Sequence[tuple[Path, str, str]]

    def message(self) -> str:
        """Return the text."""
        differing = [
            *[("missing", path, expected, "nothing") for path, expected in self.missing],
            *[("extra", path, "nothing", found) for path, found in self.extra],
            *[("wrong", path, expected, found) for path, expected, found in self.wrong],
        ]
        lines = [
            f"{what} at {path!r}: expected {expected}, found {found}"
            for what, path, expected, found in differing
        ]
        fix = "to leave out what only the checkpoint has, say `...`: restore(path, model, ...)"
        if self.missing or self.wrong:
            fix = (
                "build the model with the arguments of the saved one, or restore a part of it "
                "with filters: restore(path, model, nnx.Param)"
            )
        return (
            f"{self.function}: the checkpoint {self.path!r} does not fit {self.target}; "
            f"{counted(len(lines), 'leaf differs', 'leaves differ')}. Nothing was changed."
            f"{_shown(lines)}\n  Fix: {fix}"
        )


def _set_file(error: OSError, number: int, path: str) -> None:
    error.errno, error.filename = number, path


def _shown(lines: Sequence[str]) -> str:
    return listed(lines, 100).replace("\n    ", "\n  ")


# -- packages and summaries --------------------------------------------------------------------


class MissingPackageError(Error, ImportError):
    """A function needs a package that is not installed.

    Attributes:
        function: The function.
        package: The package.
        install: What to give to pip.
        why: Why it needs the package; empty where that is plain.
    """

    function: str
    package: str
    install: str
    why: str = ""
    template = (
        "{function}: needs the package `{package}`, which is not installed{why}.\n"
        "  Fix: pip install {install}"
    )


class MethodNotFoundError(Error, AttributeError, KeyError):
    """`tabulate` was asked to call a method that the object does not have.

    Attributes:
        kind: The type of the object.
        method: The name of the method.
        known: The methods that it has.
    """

    kind: str
    method: str
    known: Sequence[str]

    def message(self) -> str:
        """Return the text."""
        some = ", ".join([*self.known[:10], "..."] if len(self.known) > 10 else self.known)
        known = f"its methods are {some}" if self.known else "it has none that can be tabulated"
        example = self.known[0] if self.known else "forward"
        return (
            f"tabulate: {self.kind} has no method {self.method!r}; {known}.\n"
            f"  Fix: nnx.tabulate(obj, *inputs, method={example!r})"
        )


# -- bridge ------------------------------------------------------------------------------------


class BridgeError(Problem, ValueError, TypeError):
    """Modules and Linen modules, or their Variables, cannot be turned into each other."""

    @classmethod
    def without_scope(cls, function: str, module: str) -> Self:
        """Return the exception for what exists only while `init` or `apply` of a Module runs."""
        return cls(
            f"{function} of {module}" if module else function,
            "there is no scope here; Variables, submodules and random numbers of a bridge.Module "
            "exist in `setup()` and in methods wrapped in `@compact`, while `init` or `apply` runs.",
            "call it in such a method, and the method by module.init(rngs, x) or "
            "module.apply(variables, x)",
        )


class LazyInitError(Error, ValueError):
    """`lazy_init` got something that is neither a Module nor a method of one.

    Attributes:
        got: The name of what was given.
    """

    got: str
    template = (
        "lazy_init: `fn` is {got}; it needs to be an NNX Module or a bound method of one.\n"
        "  Fix: nnx.bridge.lazy_init(model, x) or nnx.bridge.lazy_init(model.method, x)"
    )


class ReservedNameError(Error, AttributeError, ValueError):
    """A Linen variable or a metric has the name of a method or attribute of what holds it.

    Attributes:
        function: The class that it is held by.
        reserved: The name.
        problem: What has the name.
        fix: What to write.
    """

    function: str
    reserved: str
    problem: str
    fix: str
    template = "{function}: {problem}\n  Fix: {fix}"


class FlaxNnxInUseError(Error, RuntimeError):
    """`install_as_flax_nnx` was called when something already used flax.nnx.

    Attributes:
        uses: Who uses it, a phrase for each.
    """

    uses: Sequence[str]
    template = (
        "install_as_flax_nnx: flax.nnx is in use, and its objects do not mix with those of "
        "typed_nnx:{uses!l}\n"
        "  Fix: call nnx.install_as_flax_nnx() before the first import that needs flax.nnx, or "
        "start the program by `typed-nnx run program.py`"
    )
