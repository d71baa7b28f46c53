"""Checkpoints: models, optimizers and States on disk, by orbax and by safetensors.

`save`, `restore` and `load` handle one checkpoint, `CheckpointManager` those of a run;
`save_safetensors` and `load_safetensors` exchange arrays with other programs. Typed PRNG keys, integer
keys, every dtype, arrays of size zero and plain values of Python come back bit for bit. They need
``pip install 'typed-nnx[checkpoint]'``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from typed_nnx._core.filters import Filter
from typed_nnx.training._checkpoint_manager import CheckpointManager as CheckpointManager
from typed_nnx.training._checkpoint_manager import save_at
from typed_nnx.training._checkpoint_reading import Placement as Placement
from typed_nnx.training._checkpoint_reading import load_from, restore_into
from typed_nnx.training._safetensors import load_safetensors as load_safetensors
from typed_nnx.training._safetensors import save_safetensors as save_safetensors

A = TypeVar("A")


def save(path: str | os.PathLike[str], node: object, *, overwrite: bool = False) -> None:
    """Write a model or a State to a path, and return when it is complete.

    The path becomes a folder with only this checkpoint. With ``overwrite=True`` the new checkpoint
    is written beside the old one, which is removed when the new one is complete: if the process is
    killed, one of the two is readable.

    Args:
        path: The folder: new, empty, or with a checkpoint that `save` wrote.
        node: A Module or any other Pytree, a State, a GraphState, a Variable, or a container
            (tuple, list, dict) of them and of arrays: ``(model, optimizer)``.
        overwrite: Replace the checkpoint that is there.

    Raises:
        CheckpointExistsError: There is one, and `overwrite` is False.
        CheckpointError: The path is a file, or a folder with something else in it.
        CheckpointLeafError: Some leaves cannot be in a checkpoint; all of them are listed.
        CheckpointSaveError: Writing failed.
        MissingPackageError: orbax is not installed.
    """
    save_at("save", path, node, overwrite=overwrite)


def restore(
    path: str | os.PathLike[str],
    node: object,
    *filters: Filter,
    sharding: Placement = None,
    verify: bool = True,
) -> None:
    """Put the values of a checkpoint into a model or a State, in place.

    Either all values are restored or, if an error is raised, none. A value keeps the sharding of the
    array that it replaces unless `sharding` says another.

    Args:
        path: What `save` or a `CheckpointManager` wrote to (of the latter the last step), or a
            checkpoint that orbax wrote: a State of flax, its pure dict, or split States.
        node: What was saved, or one of the same structure.
        *filters: Which leaves to restore; all without filters, and then the checkpoint must have no
            others. ``...`` restores all that the node has.
        sharding: One sharding for all arrays, a State (or nested dict) of shardings, or a function
            of path and `jax.ShapeDtypeStruct`.
        verify: Whether all files are compared with the checksums that they were written with. False
            saves reading all of a large checkpoint for a small part of it.

    Raises:
        CheckpointNotFoundError: There is no complete checkpoint.
        CheckpointMismatchError: Leaves are missing, extra, or of another shape or dtype; all of them
            are listed.
        CheckpointDamagedError: A file of it cannot be read, or has other bytes than were written.
        CheckpointError: The path is something else, or a sharding does not divide an array.
        MissingPackageError: orbax is not installed.
    """
    restore_into("restore", path, node, filters, sharding, verified=verify)


def load(
    path: str | os.PathLike[str],
    constructor: Callable[[], A],
    *,
    sharding: Placement = None,
    verify: bool = True,
) -> A:
    """Build a model from a checkpoint, without making its initial values.

    Args:
        path: As for `restore`.
        constructor: Makes the model, such as ``lambda: Model(rngs=nnx.Rngs(0))``; it runs under
            `eval_shape`, for structure and shapes only.
        sharding: As for `restore`; without it arrays go where the sharding metadata of their
            Variables says on the current mesh, else to the default device.
        verify: As for `restore`.

    Returns:
        The model.

    Errors are those of `restore`.
    """
    return load_from("load", path, constructor, sharding, verified=verify)
