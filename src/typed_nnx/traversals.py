"""``nnx.traversals``: nested mappings and flat ones, under the name of their module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar, overload

from typed_nnx._core.paths import Path
from typed_nnx.errors import ArgumentTypeError

A = TypeVar("A")

IsLeafCallable: TypeAlias = Callable[[Path, Mapping[Any, Any]], bool]
"""Whether the mapping at a path is to be kept as it is."""


class EmptyNode:
    """Stands in a flat mapping for a mapping without entries."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "empty_node"


empty_node: Final = EmptyNode()


def _items(
    mapping: Mapping[Any, Any], is_leaf: IsLeafCallable | None, keep_empty: bool
) -> Iterator[tuple[Path, Any]]:
    if not isinstance(mapping, Mapping):
        raise ArgumentTypeError(
            "flatten_mapping",
            f"expected a Mapping; got {type(mapping).__name__}.",
            "pass a dict, or nnx.to_pure_dict(state).",
        )

    def below(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
        if not isinstance(value, Mapping) or (is_leaf is not None and is_leaf(path, value)):
            yield path, value
        elif not value and keep_empty and path:
            yield path, empty_node
        else:
            for key, inner in value.items():
                yield from below(inner, (*path, key))

    yield from below(mapping, ())


@overload
def flatten_mapping(
    xs: Mapping[Any, Any],
    /,
    *,
    keep_empty_nodes: bool = False,
    is_leaf: IsLeafCallable | None = None,
    sep: None = None,
) -> dict[Path, Any]: ...
@overload
def flatten_mapping(
    xs: Mapping[Any, Any],
    /,
    *,
    keep_empty_nodes: bool = False,
    is_leaf: IsLeafCallable | None = None,
    sep: str,
) -> dict[str, Any]: ...
def flatten_mapping(
    xs: Mapping[Any, Any],
    /,
    *,
    keep_empty_nodes: bool = False,
    is_leaf: IsLeafCallable | None = None,
    sep: str | None = None,
) -> dict[Any, Any]:
    """Return a flat mapping from paths to leaves.

    >>> flatten_mapping({"a": {"b": 1}, "c": 2}, sep="/")
    {'a/b': 1, 'c': 2}

    Args:
        xs: A nested mapping.
        keep_empty_nodes: Keep mappings without entries, as `empty_node`.
        is_leaf: Which mappings are leaves.
        sep: Joins the keys of a path, which must be texts then; None for tuples of keys.

    Raises:
        TypeError: `xs` is no mapping, or a key cannot be joined by `sep`.
    """
    found = _items(xs, is_leaf, keep_empty_nodes)
    if sep is None:
        return dict(found)
    return {sep.join(path): value for path, value in found}


def flatten_to_sequence(
    xs: Mapping[Any, Any], /, *, is_leaf: IsLeafCallable | None = None
) -> list[tuple[Path, Any]]:
    """Return the paths and leaves of a nested mapping, in its order.

    Args:
        xs: A nested mapping.
        is_leaf: Which mappings are leaves.

    Raises:
        TypeError: `xs` is no mapping.
    """
    return list(_items(xs, is_leaf, keep_empty=False))


@overload
def unflatten_mapping(
    xs: Mapping[Path, Any] | Iterable[tuple[Path, Any]], /, *, sep: None = None
) -> dict[Any, Any]: ...
@overload
def unflatten_mapping(
    xs: Mapping[str, Any] | Iterable[tuple[str, Any]], /, *, sep: str
) -> dict[Any, Any]: ...
def unflatten_mapping(xs: Any, /, *, sep: str | None = None) -> dict[Any, Any]:
    """Return the nested mapping of a flat one: the inverse of `flatten_mapping`.

    >>> unflatten_mapping({("a", "b"): 1, ("c",): 2})
    {'a': {'b': 1}, 'c': 2}

    Args:
        xs: A mapping from paths to leaves, or pairs of both; a later leaf replaces an earlier one.
        sep: What joins the keys of a path; None where paths are tuples.

    Raises:
        TypeError: `xs` is neither, or a path leads through a leaf.
        IndexError: A path has no keys.
    """
    if not isinstance(xs, Mapping | Iterable):
        raise ArgumentTypeError(
            "unflatten_mapping",
            f"expected a Mapping or pairs; got {type(xs).__name__}.",
            "pass what flatten_mapping returned.",
        )
    root: dict[Any, Any] = {}
    for path, leaf in xs.items() if isinstance(xs, Mapping) else xs:
        keys = path if sep is None else path.split(sep)
        level = root
        for key in keys[:-1]:
            level = level.setdefault(key, {})
            if not isinstance(level, dict):
                raise ArgumentTypeError(
                    "unflatten_mapping",
                    f"the path {path!r} leads through the leaf at {key!r}.",
                    "leave one of the two out.",
                )
        level[keys[-1]] = {} if leaf is empty_node else leaf
    return root


__all__ = [
    "IsLeafCallable",
    "empty_node",
    "flatten_mapping",
    "flatten_to_sequence",
    "unflatten_mapping",
]
