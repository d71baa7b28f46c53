"""`CheckpointManager`: checkpoints of a run by step, written in the background."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.filters import Filter
from typed_nnx._core.jax_runtime import is_array_ref
from typed_nnx._core.nested import nested_of
from typed_nnx.errors import (
    CheckpointError,
    CheckpointExistsError,
    CheckpointLeafError,
    CheckpointNotFoundError,
    CheckpointSaveError,
)
from typed_nnx.training._checkpoint_files import (
    OURS,
    Untyped,
    folder_of,
    orbax,
    quiet,
    steps,
    verify,
    versions,
    with_checksums,
)
from typed_nnx.training._checkpoint_reading import Placement, described, load_from, restore_into
from typed_nnx.training._checkpoint_records import (
    NO_LEAVES,
    Leaf,
    Value,
    as_dtype,
    cells_of,
    key_to_json,
    leaves_of,
    stored_dtype,
)

FORMAT = 1


def payload_of(function: str, node: object, metrics: Mapping[str, float] | None = None) -> Untyped:
    """Return the arguments with which orbax saves a node."""
    ocp = orbax(function)
    leaves = leaves_of(cells_of(function, node))
    if abstract := [(x.path, f"{x.record}, only a shape") for x in leaves if x.record.abstract]:
        raise CheckpointLeafError(function, abstract, "save a model whose arrays have values")
    metadata = {OURS: {"format": FORMAT, "leaves": [_entry(leaf) for leaf in leaves]}}
    arrays = {leaf.names: _array(leaf) for leaf in leaves if leaf.record.has_data}
    # orbax refuses a tree without leaves.
    tree = nested_of(arrays.items()) or {NO_LEAVES: np.zeros((), np.uint8)}
    items = {"default": ocp.args.PyTreeSave(tree, custom_metadata=metadata)}
    if metrics is not None:
        items["metrics"] = ocp.args.JsonSave(dict(metrics))
    return ocp.args.Composite(**items)


def writer(function: str) -> Untyped:
    """Return what writes the arguments of `payload_of`, in the background if one does not wait."""
    ocp = orbax(function)
    # The names and files of the items are those of orbax's manager, which can read them then.
    items = ocp.CompositeCheckpointHandler(
        default=with_checksums(ocp.PyTreeCheckpointHandler()),
        metrics=with_checksums(ocp.JsonCheckpointHandler(filename="metrics")),
    )
    return ocp.AsyncCheckpointer(items)


@contextmanager
def guarded(function: str, path: str) -> Iterator[None]:
    """Run a part of a save, quietly, with the errors of orbax as ours."""
    try:
        with quiet():
            yield
    except (CheckpointExistsError, CheckpointSaveError):
        raise
    except (ValueError, OSError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointSaveError(function, path, described(error)) from error


# The writers of managers that were not closed, and whether the program waits for them.
_open: list[Untyped] = []
_waits_at_exit = False


def open_writer() -> Untyped:
    """Return a writer for which the program waits when it ends before `close_writer`."""
    # `atexit` is too late: Python ends the thread pools that orbax writes with before it, and then
    # orbax waits for ever. This is the hook by which they are ended; ours comes first.
    global _waits_at_exit
    register = getattr(threading, "_register_atexit", None)
    if not _waits_at_exit and register is not None:
        _waits_at_exit = True
        register(_wait_for_all)
    made = writer("CheckpointManager.save")
    _open.append(made)
    return made


def close_writer(made: Untyped) -> None:
    """Wait for a writer of `open_writer` and end its threads."""
    _open[:] = [other for other in _open if other is not made]
    made.close()


def _submit_inline(
    pool: ThreadPoolExecutor, function: Callable[..., Value], /, *args: object, **kwargs: object
) -> Future[Value]:
    """`ThreadPoolExecutor.submit` without a thread."""
    future: Future[Value] = Future()
    try:
        future.set_result(function(*args, **kwargs))
    except Exception as error:  # noqa: BLE001 - whoever asks for the result gets it, as from a pool
        future.set_exception(error)
    return future


def _wait_for_all() -> None:
    # From Python 3.12 on no thread can be started any more here, and orbax wants some to finish what it
    # writes. The program's own code has ended.
    setattr(ThreadPoolExecutor, "submit", _submit_inline)  # noqa: B010 - mypy refuses it as an assignment
    for made in list(_open):
        with quiet():
            close_writer(made)


def _entry(leaf: Leaf) -> dict[str, object]:
    variable = {"variable": type(leaf.variable).__name__} if leaf.variable is not None else {}
    path = [key_to_json(key) for key in leaf.path]
    return {"names": list(leaf.names), "path": path, **variable, **leaf.record.to_json()}


def _array(leaf: Leaf) -> Value:
    value = leaf.value[...] if is_array_ref(leaf.value) else leaf.value
    if leaf.record.kind == "array":
        value = as_dtype(value, stored_dtype(leaf.record.dtype))
    if not isinstance(value, jax.Array):
        return np.asarray(value)
    # orbax takes an array that each process has for itself only as numpy: the first one writes it.
    if jax.process_count() == 1 or not value.is_fully_addressable:
        return value
    is_key = jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(value) if is_key else value)


A = TypeVar("A")


class CheckpointManager:
    """Checkpoints of a run in one folder, one per step; a context manager that waits for the last.

    `save` returns as soon as the values are copied; the files are written in the background. A step
    appears in the folder when it is complete, so a killed process leaves the earlier ones. Old
    steps are removed once a newer one is complete, so for a while there is one more than is kept.
    Other files in the folder are kept, steps of orbax too. The folder has the layout of
    orbax's own manager, and one that flax code wrote can be opened.

    Args:
        path: The folder; it is made when it is first needed. One process (or one group of
            processes of jax) may write to it at a time; any number may read.
        keep_last: How many of the newest steps to keep (1 or more); None keeps all.
        best: The name of the metric that says how good a step is; its best steps are kept too.
        best_mode: Whether the largest or the smallest metric is best.
        keep_best: How many of the best steps to keep (0 or more).
        save_every: `save` skips the steps that are no multiple of this.

    Raises:
        MissingPackageError: orbax is not installed.
        CheckpointError: An argument is out of its range, or `path` is a file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        keep_last: int | None = None,
        best: str | None = None,
        best_mode: Literal["max", "min"] = "max",
        keep_best: int = 1,
        save_every: int = 1,
    ) -> None:
        orbax("CheckpointManager")
        self.path: str = os.fspath(path)
        self.keep_last: int | None = keep_last
        self.best: str | None = best
        self.best_mode: Literal["max", "min"] = best_mode
        self.keep_best: int = keep_best
        self.save_every: int = save_every
        self._steps = steps(folder_of(path))
        self._writer: Untyped = None
        self._metrics: dict[int, dict[str, float]] = {}
        self._check()

    def _check(self) -> None:
        least = {"keep_last": 1, "keep_best": 0, "save_every": 1}
        for name, minimum in least.items():
            got = getattr(self, name)
            if got is not None and got < minimum:
                fix = f"CheckpointManager(path, {name}={minimum})"
                problem = f"was given {name}={got!r}, expected {minimum} or more"
                raise CheckpointError("CheckpointManager", self.path, problem, fix)
        if self.best_mode not in ("max", "min"):
            problem = f"was given best_mode={self.best_mode!r}, expected 'max' or 'min'"
            fix = "CheckpointManager(path, best='loss', best_mode='min')"
            raise CheckpointError("CheckpointManager", self.path, problem, fix)
        if self._steps.folder.exists() and not self._steps.folder.is_dir():
            raise CheckpointError(
                "CheckpointManager", self.path, "is a file", "give the path of a folder"
            )

    # -- writing ----------------------------------------------------------------------------------

    def save(self, step: int, node: object, *, metrics: Mapping[str, Any] | None = None) -> bool:
        """Start writing a node; later changes of its values do not change what is written.

        Args:
            step: The number of the step (0 or more).
            node: A Module, a State, or any container of them.
            metrics: Scalars to keep with it (arrays of shape ``()`` or numbers).

        Returns:
            Whether it is saved; False for a step that ``save_every`` skips.

        Raises:
            CheckpointExistsError: The step was saved before.
            CheckpointError: The step is negative, or something else has its name.
            CheckpointLeafError: Some leaves cannot be in a checkpoint.
            CheckpointSaveError: Writing failed, now or in the background since the last call.
        """
        if step < 0:
            problem = f"cannot have the step {step!r}, expected 0 or more"
            fix = "manager.save(0, model) for the first step"
            raise CheckpointError("CheckpointManager.save", self.path, problem, fix)
        if step % self.save_every:
            return False
        figures = None if metrics is None else {k: float(v) for k, v in metrics.items()}
        payload = payload_of("CheckpointManager.save", node, figures)
        self.wait_until_finished()
        name = str(self._steps.name(step))
        if step in self._steps.complete():
            fix = f"manager.delete({step}) before, or save another step"
            raise CheckpointExistsError("CheckpointManager.save", name, fix=fix)
        if self._steps.name(step).name in self._steps.strangers():
            fix = "give a folder of its own to each run, or save another step"
            problem = "is something else than a checkpoint, where the step would be"
            raise CheckpointError("CheckpointManager.save", name, problem, fix)
        with guarded("CheckpointManager.save", self.path):
            if jax.process_index() == 0:
                self._steps.folder.mkdir(parents=True, exist_ok=True)
                self._steps.clean()
            if self._writer is None:
                self._writer = open_writer()
            self._writer.save(self._steps.name(step), args=payload)
        return True

    def wait_until_finished(self) -> None:
        """Wait until the last save is complete, and delete the steps that are not kept.

        Raises:
            CheckpointSaveError: Writing failed in the background.
        """
        if self._writer is not None:
            with guarded("CheckpointManager.save", self.path):
                self._writer.wait_until_finished()
            if self.keep_last is None:
                return
            kept = {*self.all_steps()[-self.keep_last :], *self._ranked()[: self.keep_best]}
            # Steps that another program wrote are not ours to delete.
            self._forget(self._steps.own([step for step in self.all_steps() if step not in kept]))

    def delete(self, step: int) -> None:
        """Delete a step.

        Raises:
            CheckpointNotFoundError: There is no such step.
        """
        self.wait_until_finished()
        self._known("CheckpointManager.delete", step)
        self._forget([step])

    def close(self) -> None:
        """Wait until the last save is complete and end the background work."""
        try:
            self.wait_until_finished()
        finally:
            if self._writer is not None:
                last, self._writer = self._writer, None
                with guarded("CheckpointManager.save", self.path):
                    close_writer(last)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _forget(self, doomed: list[int]) -> None:
        self._steps.delete(doomed)
        for step in doomed:
            self._metrics.pop(step, None)

    # -- what there is ----------------------------------------------------------------------------

    def all_steps(self) -> list[int]:
        """Return the complete steps, in order."""
        return self._steps.complete()

    def latest_step(self) -> int | None:
        """Return the last complete step, or None."""
        return max(self.all_steps(), default=None)

    def best_step(self) -> int | None:
        """Return the complete step with the best metric (the latest of equals), or None."""
        return next(iter(self._ranked()), None)

    def metrics(self, step: int) -> dict[str, float]:
        """Return the metrics that were saved with a step.

        Raises:
            CheckpointNotFoundError: There is no such step.
            CheckpointDamagedError: The file has other bytes than were written.
        """
        self._known("CheckpointManager.metrics", step)
        if step not in self._metrics:
            # Written by orbax's handler for JSON, in the place where its manager has them.
            folder = self._steps.name(step) / "metrics"
            verify("CheckpointManager.metrics", str(folder), [folder])
            file = folder / "metrics"
            self._metrics[step] = json.loads(file.read_text()) if file.exists() else {}
        return dict(self._metrics[step])

    def _ranked(self) -> list[int]:
        """Return the steps that have the metric, the best first; a metric that is NaN counts not."""
        if self.best is None:
            return []
        sign = 1 if self.best_mode == "max" else -1
        found = {step: self.metrics(step).get(self.best, math.nan) for step in self.all_steps()}
        good = {step: sign * value for step, value in found.items() if not math.isnan(value)}
        return sorted(good, key=lambda step: (good[step], step), reverse=True)

    def _known(self, function: str, step: int) -> None:
        if step not in self.all_steps():
            found = f"has no complete step {step!r}; it has {self.all_steps()}"
            raise CheckpointNotFoundError(function, self.path, found)

    # -- reading ----------------------------------------------------------------------------------

    def restore(
        self,
        node: object,
        *filters: Filter,
        step: int | Literal["latest", "best"] = "latest",
        sharding: Placement = None,
        verify: bool = True,
    ) -> int:
        """Put the values of a step into a node, in place, and return the step.

        Arguments and errors are those of `restore`.
        """
        function = "CheckpointManager.restore"
        number, path = self._find(function, step)
        restore_into(function, path, node, filters, sharding, verified=verify)
        return number

    def load(
        self,
        constructor: Callable[[], A],
        *,
        step: int | Literal["latest", "best"] = "latest",
        sharding: Placement = None,
        verify: bool = True,
    ) -> A:
        """Build a node from a step without making initial values.

        Arguments and errors are those of `load`.
        """
        _, path = self._find("CheckpointManager.load", step)
        return load_from("CheckpointManager.load", path, constructor, sharding, verified=verify)

    def _find(self, function: str, step: int | Literal["latest", "best"]) -> tuple[int, str]:
        self.wait_until_finished()
        known = {"latest": self.latest_step, "best": self.best_step}
        number = known[step]() if isinstance(step, str) else step
        if number is None:
            raise CheckpointNotFoundError(function, self.path, f"has no complete {step} step")
        self._known(function, number)
        return number, str(self._steps.name(number))


def save_at(function: str, path: str | os.PathLike[str], node: object, *, overwrite: bool) -> None:
    """Write a node to a path and wait until it is there."""
    orbax(function)
    shown, folder = os.fspath(path), folder_of(path)
    payload = payload_of(function, node)
    here = versions(folder)
    if folder.exists() and not folder.is_dir():
        raise CheckpointError(function, shown, "is a file", "give the path of a folder")
    if strangers := here.strangers():
        problem = f"is a folder with something else in it ({', '.join(strangers[:5])})"
        raise CheckpointError(
            function, shown, problem, "give a folder of its own to each checkpoint"
        )
    old = here.complete()
    if old and not overwrite:
        raise CheckpointExistsError(function, shown)

    with guarded(function, shown):
        if jax.process_index() == 0:
            folder.mkdir(parents=True, exist_ok=True)
            here.clean()
        with writer(function) as checkpointer:
            checkpointer.save(here.name(old[-1] + 1 if old else 1), args=payload)
            checkpointer.wait_until_finished()
        here.delete(old)
