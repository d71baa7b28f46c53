"""Checks of the objects that a transformed function returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax

from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.unset import UNSET
from typed_nnx._core.variable import Variable
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.gather import is_object
from typed_nnx._transforms.places import place_name, result_name
from typed_nnx._transforms.prefixes import Prefix, by_filter
from typed_nnx._transforms.signature import Signature
from typed_nnx.errors import PrefixConflictError, ReturnedInputError, SharedReferenceError

NO_PREFIX: Any = UNSET
"""Says that results have no prefixes: an argument may be returned, whatever its prefix."""


class ResultCheck:
    """Checks the objects in a result.

    Args:
        function: The name of the transform, for errors.
        signature: What is static about the call.
        objects: The objects that went in, by their number among the items of all parts.
        prefix: The prefix of the result, or NO_PREFIX.
    """

    __slots__ = ("_function", "_known", "_objects", "_signature", "has_prefix", "prefix")

    def __init__(
        self, function: str, signature: Signature, objects: Mapping[int, Any], prefix: Prefix
    ) -> None:
        self._function = function
        self._signature = signature
        self._objects = objects
        self.has_prefix = prefix is not NO_PREFIX
        self.prefix = prefix if self.has_prefix else None
        self._known: dict[int, tuple[str, Prefix]] | None = None

    def trees(self, result: Any) -> None:
        """Raise if trees are asserted, or a fixed structure, and a Variable is there twice.

        Raises:
            ReturnedInputError: A Variable of an argument was returned.
            SharedReferenceError: Trees are asserted and a new Variable was returned twice.
        """
        if self._signature.modes[1]:
            return
        went_in = self._of_arguments()
        seen: dict[int, Path] = {}
        entries = jax.tree_util.tree_leaves_with_path(result, is_leaf=is_object)
        for keys, node in entries:
            if not is_object(node):
                continue
            traversal: Traversal = Traversal().visit(node)
            paths = traversal.graphdef.layout.paths
            for below, leaf in zip(paths, traversal.leaves, strict=True):
                path = (*map(key_of_entry, keys), *below)
                if id(leaf) in went_in:
                    kind, where = type(leaf).__name__, went_in[id(leaf)][0]
                    raise ReturnedInputError(self._function, kind, where, result_name(path))
                if isinstance(leaf, Variable) and id(leaf) in seen and not self._signature.modes[0]:
                    kind = type(leaf).__name__
                    where = result_name(seen[id(leaf)])
                    raise SharedReferenceError(self._function, kind, [where, result_name(path)])
                seen[id(leaf)] = path

    def prefixes(self, node: Any, prefix: Prefix) -> None:
        """Raise if a Variable of an object has another prefix elsewhere.

        Raises:
            PrefixConflictError: With both places.
        """
        if not self.has_prefix:
            return
        if self._known is None:
            self._known = self._of_arguments()
        filters = by_filter(prefix)
        traversal: Traversal = Traversal().visit(node)
        for path, leaf in zip(traversal.graphdef.layout.paths, traversal.leaves, strict=True):
            if not isinstance(leaf, Variable):
                continue
            own = prefix
            if filters is not None:
                own = filters.values_in_order[filters.group_of(self._function, path, leaf)]
            where = result_name(path)
            known = self._known.setdefault(id(leaf), (where, own))
            if known[1] != own:
                kind = type(leaf).__name__
                raise PrefixConflictError([known, (where, own)], kind, self._function)

    def _of_arguments(self) -> dict[int, tuple[str, Prefix]]:
        found: dict[int, tuple[str, Prefix]] = {}
        for part in self._signature.parts:
            layout = part.graphdef.layout
            positions = part.leaf_positions()
            for leaf, (path, position) in enumerate(zip(layout.paths, positions, strict=True)):
                variable = self._objects.get(position + part.offset)
                own = part.prefix
                if part.filters is not None and part.groups is not None:
                    own = part.filters.values_in_order[part.groups[leaf]]
                if isinstance(variable, Variable):
                    found[id(variable)] = (place_name((*part.path, *path)), own)
        return found
