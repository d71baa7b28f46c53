"""The assertion ``graph=False``: arguments are trees, without shared references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typed_nnx._graph.duplicates import shared_paths
from typed_nnx._transforms.places import place_name
from typed_nnx.errors import SharedReferenceError


def check_trees(function: str, arguments: Mapping[Any, Any]) -> None:
    """Raise if an object is reached on two paths.

    Args:
        function: The transform and the function.
        arguments: The arguments by name.

    Raises:
        SharedReferenceError: With its paths.
    """
    found = shared_paths(arguments)
    if found is not None:
        paths = [place_name(path) for path in found[1]]
        raise SharedReferenceError(function, type(found[0]).__name__, paths)
