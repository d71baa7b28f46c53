"""Checkpoints: models, optimizers and States on disk, by orbax and by safetensors.

`save`, `restore` and `load` handle one checkpoint, `CheckpointManager` those of a run;
`save_safetensors` and `load_safetensors` exchange arrays with other programs. Typed PRNG keys, integer
keys, every dtype, arrays of size zero and plain values of Python come back bit for bit. They need
``pip install 'typed-nnx[checkpoint]'``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from typed_nnx._core.filters import Filter
from typed_nnx._core.paths import Path
from typed_nnx.training._checkpoint.manager import CheckpointManager as CheckpointManager
from typed_nnx.training._checkpoint.placement import Placement as Placement
from typed_nnx.training._checkpoint.restoring import load_from, restore_into
from typed_nnx.training._checkpoint.safetensors_files import (
    NameOf,
    dotted,
    load_file,
    save_file,
)
from typed_nnx.training._checkpoint.saving import save_at

A = TypeVar("A")

# A node is anything that `nnx.state` takes: object.


def save(path: str | os.PathLike[str], node: object, *, overwrite: bool = False) -> None:
    """Write a model or a State to a path, and return when it is there.

    The path becomes a folder that holds this checkpoint alone. With ``overwrite=True`` the new
    checkpoint is written beside the old one, which goes when the new one is complete: a kill at any
    moment leaves one of the two readable.

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
            Variables says on the mesh in force, else to the default device.
        verify: As for `restore`.

    Returns:
        The model.

    Raises:
        CheckpointNotFoundError: There is no complete checkpoint.
        CheckpointMismatchError: Leaves are missing, extra, or of another shape or dtype; all of them
            are listed.
        CheckpointDamagedError: A file of it cannot be read, or has other bytes than were written.
        CheckpointError: The path is something else, or a sharding does not divide an array.
        MissingPackageError: orbax is not installed.
    """
    return load_from("load", path, constructor, sharding, verified=verify)


def save_safetensors(
    path: str | os.PathLike[str],
    node: object,
    *filters: Filter,
    name: NameOf = dotted,
    overwrite: bool = False,
) -> None:
    """Write the arrays of a model to a safetensors file.

    Typed PRNG keys are written as their data (``uint32 [..., words]``), and the header says which
    tensors they are (``typed_nnx.keys``). The file is complete or not there.

    Args:
        path: The file.
        node: As for `save`.
        *filters: Which leaves to write; all without filters.
        name: The name of the tensor at a path; None leaves it out. By default the keys with dots
            in between: ``layers.0.kernel``.
        overwrite: Replace the file that is there.

    Raises:
        CheckpointExistsError: There is one, and `overwrite` is False.
        CheckpointLeafError: The format has no dtype for some leaves; all of them are listed.
        CheckpointError: The path is a folder, or two leaves have one name.
        MissingPackageError: safetensors is not installed.
    """
    save_file(path, node, filters, name, overwrite)


def load_safetensors(
    path: str | os.PathLike[str],
    node: object,
    *filters: Filter,
    name: NameOf = dotted,
    transform: Callable[[Path, np.ndarray[Any, Any]], np.ndarray[Any, Any]] | None = None,
    sharding: Placement = None,
) -> None:
    """Put the arrays of a safetensors file into a model, in place.

    Either all values are restored or, if an error is raised, none. Typed PRNG keys are made of their
    data. Shapes and dtypes must be those of the model.

    Args:
        path: The file.
        node: As for `restore`.
        *filters: Which leaves to restore; all without filters, and then the file must have no
            others.
        name: The name of the tensor at a path; a leaf for which it is None stays as it is.
        transform: Makes of a path and the array in the file the array for the model, such as the
            transpose of a kernel.
        sharding: As for `restore`.

    Raises:
        CheckpointNotFoundError: There is no file.
        CheckpointMismatchError: Tensors are missing, extra, or of another shape or dtype; all of them
            are listed.
        CheckpointDamagedError: The file is no safetensors file, or is truncated.
        CheckpointError: The path is a folder, two leaves have one name, or a sharding does not
            divide an array.
        MissingPackageError: safetensors is not installed.
    """
    load_file(path, node, filters, name, transform, sharding)
