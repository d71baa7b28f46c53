"""`save`: a new version beside the old one, which goes when the new one is complete."""

from __future__ import annotations

import os
from typing import Any

import jax

from typed_nnx.errors import CheckpointError, CheckpointExistsError
from typed_nnx.training._checkpoint.directories import versions
from typed_nnx.training._checkpoint.packages import folder_of, orbax
from typed_nnx.training._checkpoint.writing import guarded, payload_of, writer


def save_at(function: str, path: str | os.PathLike[str], node: Any, *, overwrite: bool) -> None:
    """Write a node to a path and wait until it is there.

    Args:
        function: The function that was called.
        path: The folder of the checkpoint.
        node: What to save.
        overwrite: Replace the checkpoint that is there.
    """
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
        raise CheckpointExistsError(function, shown, "save(path, model, overwrite=True)")

    def write() -> None:
        if jax.process_index() == 0:
            folder.mkdir(parents=True, exist_ok=True)
            here.clean()
        with writer(function) as checkpointer:
            checkpointer.save(here.name(old[-1] + 1 if old else 1), args=payload)
            checkpointer.wait_until_finished()
        here.delete(old)

    guarded(function, shown, write)
