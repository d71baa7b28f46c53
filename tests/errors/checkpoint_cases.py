"""What goes wrong with checkpoints."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Bag, Case
from typed_nnx.errors import (
    CheckpointDamagedError,
    CheckpointError,
    CheckpointExistsError,
    CheckpointLeafError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
    CheckpointSaveError,
)
from typed_nnx.training.checkpoint import CheckpointManager, restore, save


def network() -> Bag:
    """Return a model with a Param and, deeper, a BatchStat."""
    return Bag(w=nnx.Param(jnp.ones((2, 3))), norm=Bag(mean=nnx.BatchStat(jnp.zeros(3))))


def in_folder(does: Callable[[Path], object]) -> Callable[[], object]:
    """Return an operation that gets a folder of its own."""

    def operation() -> object:
        with tempfile.TemporaryDirectory() as folder:
            return does(Path(folder) / "run")

    return operation


def saved(path: Path, **attributes: Any) -> Path:
    """Save a model and return the path."""
    save(path, Bag(**attributes) if attributes else network())
    return path


def with_a_broken_file(path: Path) -> Path:
    """Save a model, cut off its metadata and return the path."""
    (saved(path) / "version_1" / "default" / "_METADATA").write_text("{")
    return path


def in_a_file(path: Path) -> Path:
    """Return a path below a file, which is no place for a folder."""
    path.write_text("notes")
    return path / "model"


CASES = [
    Case(
        "a checkpoint of another model",
        CheckpointMismatchError,
        in_folder(lambda path: restore(saved(path, w=nnx.Param(jnp.ones(4)), b=nnx.Param(1)), network())),
        (
            "restore: the checkpoint ", "does not fit Bag; 3 leaves differ. Nothing was changed.",
            "missing at ('norm', 'mean'): expected float32[3], found nothing",
            "extra at ('b',): expected nothing, found int (a value of Python)",
            "wrong at ('w',): expected float32[2,3], found float32[4]",
        ),
        "build the model with the arguments of the saved one",
    ),
    Case(
        "a checkpoint of a larger model",
        CheckpointMismatchError,
        in_folder(lambda path: restore(saved(path), Bag())),
        ("restore: ", "2 leaves differ", "extra at ('norm', 'mean'): expected nothing"),
        "restore(path, model, ...)",
    ),
    Case(
        "a path without a checkpoint",
        CheckpointNotFoundError,
        in_folder(lambda path: restore(path, network())),
        ("restore: ", "run' does not exist"),
        "give the path that a finished save wrote to",
        FileNotFoundError,
    ),
    Case(
        "a step that is not there",
        CheckpointNotFoundError,
        in_folder(lambda path: CheckpointManager(path).restore(network(), step=3)),
        ("CheckpointManager.restore: ", "has no complete step 3; it has []"),
        "give the path that a finished save wrote to",
    ),
    Case(
        "a file for a checkpoint",
        CheckpointError,
        in_folder(lambda path: restore(in_a_file(path).parent, network())),
        ("restore: ", "run' is a file, not a checkpoint"),
        "a .safetensors file is for load_safetensors",
    ),
    Case(
        "a second checkpoint at a path",
        CheckpointExistsError,
        in_folder(lambda path: save(saved(path), network())),
        ("save: ", "holds a checkpoint already"),
        "save(path, model, overwrite=True)",
        FileExistsError,
    ),
    Case(
        "a truncated file",
        CheckpointDamagedError,
        in_folder(lambda path: restore(with_a_broken_file(path), network())),
        ("restore: ", "is damaged and cannot be read (", "has other bytes than were written"),
        "restore another checkpoint, or save it again",
    ),
    Case(
        "a folder that cannot be made",
        CheckpointSaveError,
        in_folder(lambda path: save(in_a_file(path), network())),
        ("save: ", "could not be written (", "NotADirectoryError"),
        "see the cause above; earlier checkpoints are intact",
    ),
    Case(
        "a function in a Variable",
        CheckpointLeafError,
        in_folder(lambda path: save(path, Bag(f=nnx.Variable(max)))),
        ("save: 1 leaf cannot be in a checkpoint.", "at ('f',): builtin_function_or_method"),
        "save(path, nnx.state(model, nnx.Param))",
        TypeError,
    ),
]  # fmt: skip
