"""Linen variables as Variables, and Variables as Linen variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import jax

from typed_nnx._core.paths import Path, sorted_keys
from typed_nnx._core.rngs import RngState
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_metadata import VariableMetadata
from typed_nnx._core.variable_types import variable_name_from_type, variable_type_from_name
from typed_nnx.bridge._linen import flax_modules
from typed_nnx.bridge._nnx_meta import is_box, nnx_meta_class
from typed_nnx.errors import CollectionNameError, DuplicateVariableError, LinenBoxError

# How a Variable is kept; it says nothing about the value.
_KEPT_AS = frozenset({"hijax", "ref", "eager_sharding"})

# The metadata of a Variable that Linen's sharding boxes know under other names.
_TO_LINEN = {"out_sharding": "names", "sharding_rules": "rules"}
_TO_NNX = {linen: ours for ours, linen in _TO_LINEN.items()}

# The collection of arrays that are attributes without a Variable, as NNX names it in eager code.
ARRAYS = "ArrayImpl"


def is_vanilla_variable(vs: Variable[Any]) -> bool:
    """Whether a Variable has no metadata of its own, so that a bare value can stand for it."""
    return all(name in _KEPT_AS for name in vs.get_metadata())


def to_linen_var(vs: Variable[Any]) -> Any:
    """Return what Linen keeps for a Variable: its bare value, or a box with the metadata.

    A Variable that was made of a Linen box becomes a box of that type again, any other one with
    metadata an `NNXMeta`.

    Raises:
        LinenBoxError: The Linen box needs metadata that the Variable no longer has.
    """
    metadata = vs.get_metadata()
    if "linen_meta_type" in metadata:
        return _as_box(vs.get_value(), metadata)
    if is_vanilla_variable(vs):
        return vs.get_value()
    return nnx_meta_class()(type(vs), vs.get_value(), metadata)


def _as_box(value: Any, metadata: Mapping[str, Any]) -> Any:
    box: Any = metadata["linen_meta_type"]
    named = {_TO_LINEN.get(name, name): given for name, given in metadata.items()}
    fields = {field.name: field for field in dataclasses.fields(box) if field.init}
    fitting = {name: given for name, given in named.items() if name in fields}
    missing = [
        name
        for name, field in fields.items()
        if name not in ("value", *fitting)
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise LinenBoxError(box.__name__, f"needs {missing}, which the Variable has not")
    return box(value, **fitting)


def to_nnx_var(col: str, x: Any) -> Variable[Any]:
    """Return the Variable for a variable of a Linen collection.

    Args:
        col: The collection; a Variable type of that name is made where there is none.
        x: The value, bare or boxed. The fields of a box become metadata.

    Raises:
        LinenBoxError: The box is no dataclass, or an `NNXMeta` of another Variable type.
    """
    return variable_of(col, x)


def variable_of(col: str, x: Any, **metadata: Any) -> Variable[Any]:
    """Return the Variable for a variable of a Linen collection, with more metadata.

    Args:
        col: The collection.
        x: The value, bare or boxed, or with the metadata of an initializer.
        **metadata: Metadata that wins over that of the box.

    Raises:
        LinenBoxError: As in `to_nnx_var`.
    """
    kind: Any = variable_type_from_name(col, allow_register=True)
    made: Variable[Any] = _variable_of(kind, col, x, metadata)
    return made


def _variable_of(kind: Any, col: str, x: Any, metadata: dict[str, Any]) -> Any:
    if isinstance(x, VariableMetadata) or not is_box(x):
        return kind(x)
    if isinstance(x, nnx_meta_class()):
        box: Any = x
        if box.var_type is not kind:
            found = f"holds a {box.var_type.__name__}, and the collection {col!r} {kind.__name__}s"
            raise LinenBoxError("NNXMeta", found)
        return kind(box.value, **{**box.metadata, **metadata})
    fields: Any = getattr(x, "__dataclass_fields__", None)
    if fields is None or "value" not in fields:
        raise LinenBoxError(type(x).__name__, "is no dataclass with a field `value`")
    given = {_TO_NNX.get(name, name): getattr(x, name) for name in fields if name != "value"}
    # The order that NNX has: the mesh, then what it is for.
    ordered = {name: given.pop(name) for name in ("mesh", "out_sharding") if name in given}
    return kind(x.value, **{**ordered, **given, "linen_meta_type": type(x), **metadata})


def get_col_name(keypath: Iterable[Any]) -> str:
    """Return the collection of a leaf of Linen variables: the first key of its path in jax's form.

    Raises:
        CollectionNameError: The path does not begin with the key of a dict.
    """
    first: Any = next(iter(keypath), None)
    if not isinstance(first, jax.tree_util.DictKey):
        raise CollectionNameError(first, "the beginning of a path")
    return str(first.key)


def sort_variable_types(types: Iterable[type]) -> list[type]:
    """Return types with every subclass before its bases, so that the first that fits is the best."""
    return sorted(types, key=lambda typ: -len(typ.__mro__))


def linen_vars_to_nnx_attrs(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes for Linen variables: nested dicts of Variables without collections.

    Args:
        variables: Nested mappings by collection; everything else in them is a value.

    Raises:
        DuplicateVariableError: Two collections have a variable under one path.
    """
    return attrs_of(variables)


def attrs_of(variables: Mapping[str, Any], **metadata: Any) -> dict[str, Any]:
    """Return the attributes for Linen variables, with more metadata for those in boxes."""
    attrs: dict[str, Any] = {}
    homes: dict[Path, str] = {}
    for col in sorted_keys(variables):
        for path, value in _values(variables[col], ()):
            _place(attrs, homes, path, str(col), variable_of(str(col), value, **metadata))
    return attrs


def _values(tree: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if not isinstance(tree, Mapping):
        yield path, tree
        return
    for key in sorted_keys(tree):
        yield from _values(tree[key], (*path, key))


def _place(
    attrs: dict[str, Any], homes: dict[Path, str], path: Path, col: str, value: Variable[Any]
) -> None:
    level: Any = attrs
    for depth, key in enumerate(path[:-1], start=1):
        level = level.setdefault(key, {})
        if isinstance(level, Variable):
            raise DuplicateVariableError(path[:depth], homes[path[:depth]], col)
    if path[-1] in level:
        other = homes.get(path) or next(
            home for at, home in homes.items() if at[: len(path)] == path
        )
        raise DuplicateVariableError(path, other, col)
    level[path[-1]] = value
    homes[path] = col


def nnx_attrs_to_linen_vars(nnx_attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Linen variables, by collection, for nested mappings of Variables.

    The inverse of `linen_vars_to_nnx_attrs`.

    Raises:
        CollectionNameError: A leaf is no Variable, or its type has no registered name
            (`VariableNameError`).
    """
    return collected(nnx_attrs, to_linen_var)


def collected(
    attrs: Mapping[Any, Any],
    convert: Callable[[Variable[Any]], Any] | None,
    allow_register: bool = False,
    wanted: Callable[[str], bool] = lambda col: True,
) -> dict[str, Any]:
    """Return the Linen variables, by collection, for nested mappings of Variables.

    Args:
        attrs: The mappings.
        convert: Makes the Linen variable of a Variable; None takes the bare value.
        allow_register: Give the name of its class to a Variable type without a name, and take bare
            arrays as a collection of their own.
        wanted: Which collections to convert.
    """
    found: dict[str, dict[Any, Any]] = {}
    for path, leaf in _leaves(attrs, ()):
        if isinstance(leaf, Variable):
            col = variable_name_from_type(type(leaf), allow_register=allow_register)
        elif allow_register and isinstance(leaf, jax.Array):
            col = ARRAYS
        else:
            raise CollectionNameError(leaf, "/".join(map(str, path)))
        if not wanted(col):
            continue
        value = leaf
        if isinstance(leaf, Variable):
            value = leaf.get_value() if convert is None else convert(leaf)
        level = found.setdefault(col, {})
        for key in path[:-1]:
            level = level.setdefault(key, {})
        level[path[-1]] = value
    return dict(found)


def _leaves(attrs: Mapping[Any, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    for key, value in attrs.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def is_random(value: Any) -> bool:
    """Whether a leaf is the state of a random stream, which Linen makes anew at each call."""
    return isinstance(value, RngState)


def with_partitioning(
    fn: Callable[..., Any], names: tuple[str | None, ...], mesh: Any = None
) -> Callable[..., VariableMetadata[Any]]:
    """Return an initializer whose Variable becomes a ``flax.linen.Partitioned`` in Linen.

    Args:
        fn: The initializer.
        names: The axis of the mesh for each axis of the array; None for an axis that is not split.
        mesh: The mesh; None for the one in force.
    """
    box = flax_modules("bridge.with_partitioning").core.meta.Partitioned

    def initialize(*args: Any, **kwargs: Any) -> VariableMetadata[Any]:
        metadata = {"out_sharding": names, "mesh": mesh, "linen_meta_type": box}
        return VariableMetadata(fn(*args, **kwargs), metadata=metadata)

    return initialize
