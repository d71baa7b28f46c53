"""``nnx.bridge.variables``: Linen variables as Variables, and Variables as Linen variables."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import jax
from jax.sharding import NamedSharding, PartitionSpec

from typed_nnx._core.fields import data
from typed_nnx._core.metadata import VariableMetadata
from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import B as B
from typed_nnx._core.nested import flat_items, nested_of, sorted_items
from typed_nnx._core.nodes import CONTAINER, LEAF, OBJECT, all_entries, kind_of
from typed_nnx._core.paths import Key, Path, sorted_keys
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.settings import MISSING
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import variable_name_from_type, variable_type_from_name
from typed_nnx.errors import BridgeError, MissingPackageError

Linen: TypeAlias = Any
"""What flax gives: checkers do not follow it, and it may not be installed."""

Value: TypeAlias = Any
"""The value of a variable: an array, a pytree, or a box of Linen around one."""

Collections: TypeAlias = dict[str, Any]
"""Linen variables: by collection, values in nested dicts."""

Attributes: TypeAlias = dict[str, Any]
"""Variables in nested dicts, as the attributes of a Module hold them."""


__all__ = [
    "A",
    "B",
    "NNXMeta",
    "get_col_name",
    "is_vanilla_variable",
    "linen_vars_to_nnx_attrs",
    "nnx_attrs_to_linen_vars",
    "sort_variable_types",
    "to_linen_var",
    "to_nnx_var",
    "with_partitioning",
]


def flax_modules(needed_by: str) -> Linen:
    """Return the module ``flax``, with ``flax.linen``, ``flax.core.meta`` and ``flax.struct``.

    Raises:
        MissingPackageError: flax is not installed; it says what it is `needed_by`.
    """
    try:
        import flax
        import flax.core.meta
        import flax.linen
        import flax.struct
    except ModuleNotFoundError as error:
        if error.name != "flax":  # flax is there, and something that it needs is not
            raise
        why = "; Linen is part of it, and the rest of typed_nnx works without it"
        raise MissingPackageError(needed_by, "flax", "flax", why) from None
    return flax


def current_linen_module() -> Linen:
    """Return the Linen module whose method is running, or None."""
    linen = flax_modules("current_linen_module")
    # flax has no public name for it.
    stack = linen.linen.module._context.module_stack
    return stack[-1] if stack else None


def linen_rngs_dict(linen_module: Linen, add_default: bool = False) -> dict[str, Any]:
    """Return a new key for each random stream of a Linen module that runs.

    Args:
        linen_module: A bound Linen module.
        add_default: Add the seed 0 as ``default`` when there is no such stream.

    Raises:
        AssertionError: The module is not bound.
    """
    if linen_module.scope is None:
        raise AssertionError(  # as in flax
            "linen_rngs_dict: the Linen module has no scope; it must be called inside a Linen "
            "module.\n  Fix: call it in a method that runs under init or apply"
        )
    names = linen_module.scope.rngs
    keys: dict[str, Any] = {name: linen_module.make_rng(name) for name in names}
    if add_default:
        keys.setdefault("default", 0)
    return keys


# jax gives it no type.
_partition_spec: Any = PartitionSpec


def partition_spec_of(value: object, metadata: dict[str, Any]) -> Any:
    """Return the PartitionSpec that Variable metadata stands for."""
    given = [metadata.get(n) for n in ("out_sharding", "sharding", "sharding_names")]
    names: Any = next((one for one in given if one is not None), None)
    if names is None:
        return _partition_spec() if hasattr(value, "shape") else None
    if isinstance(names, PartitionSpec):
        return names
    if isinstance(names, NamedSharding):
        return names.spec
    rules: dict[Any, Any] = dict(metadata.get("sharding_rules") or ())
    return _partition_spec(*[rules.get(name, name) for name in names])


if TYPE_CHECKING:
    from typed_nnx.bridge._declared import NNXMeta as NNXMeta

else:

    def __getattr__(name):
        if name == "NNXMeta":
            return nnx_meta_class()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@functools.lru_cache(maxsize=1)
def nnx_meta_class() -> Linen:
    """Return the class `NNXMeta`."""
    flax: Any = flax_modules("NNXMeta")
    struct: Any = flax.struct

    class NNXMeta(struct.PyTreeNode, flax.core.meta.AxisMetadata[A]):  # type: ignore[misc]  # flax's names are Any
        """A Linen variable that carries the type and the metadata of the Variable it was.

        Attributes:
            var_type: The type of the Variable.
            value: Its value, a child for jax.
            metadata: Its metadata.
        """

        var_type: type[Variable[Value]] = struct.field(pytree_node=False)
        value: Any = struct.field(pytree_node=True)
        metadata: dict[str, Any] = struct.field(pytree_node=False)

        def unbox(self) -> Any:
            """Return the value."""
            return self.value

        def replace_boxed(self, val: Any) -> Any:
            """Return the same metadata with another value."""
            return self.replace(value=val)

        def add_axis(self, index: int, params: dict[Any, Any]) -> Self:
            """Return this box: Linen transforms leave the metadata as it is."""
            return self

        remove_axis = add_axis

        def get_partition_spec(self) -> Any:
            """Return the PartitionSpec of the value."""
            return partition_spec_of(self.value, self.metadata)

        def to_nnx_variable(self) -> Variable[Value]:
            """Return the Variable that this box stands for."""
            return self.var_type(self.value, **self.metadata)

    NNXMeta.__module__ = "typed_nnx.bridge.variables"
    NNXMeta.__qualname__ = "NNXMeta"
    return NNXMeta


def is_box(value: Value) -> bool:
    """Whether a value of a Linen variable carries metadata."""
    meta = flax_modules("bridge.variables").core.meta
    return isinstance(value, meta.AxisMetadata)


# How a Variable is kept; it says nothing about the value.
_KEPT_AS = frozenset({"hijax", "ref", "eager_sharding"})

# The metadata of a Variable that Linen's sharding boxes know under other names.
_TO_LINEN = {"out_sharding": "names", "sharding_rules": "rules"}
_TO_NNX = {linen: ours for ours, linen in _TO_LINEN.items()}

# The collection of arrays that are attributes without a Variable, as NNX names it in eager code.
ARRAYS = "ArrayImpl"


def is_vanilla_variable(vs: Variable[Value]) -> bool:
    """Whether a Variable has no metadata of its own, so that a bare value can stand for it."""
    return all(name in _KEPT_AS for name in vs.get_metadata())


def to_linen_var(vs: Variable[Value]) -> Value:
    """Return what Linen keeps for a Variable: its bare value, or a box with the metadata.

    A Variable that was made of a Linen box becomes a box of that type again, any other one with
    metadata an `NNXMeta`.

    Raises:
        BridgeError: The Linen box needs metadata that the Variable no longer has.
    """
    metadata = vs.get_metadata()
    if "linen_meta_type" in metadata:
        return _as_box(vs.get_value(), metadata)
    if is_vanilla_variable(vs):
        return vs.get_value()
    return nnx_meta_class()(type(vs), vs.get_value(), metadata)


def _as_box(value: Value, metadata: Mapping[str, Any]) -> Value:
    box: Linen = metadata["linen_meta_type"]
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
        raise _wrong_box(box.__name__, f"needs {missing}, which the Variable has not")
    return box(value, **fitting)


def _wrong_box(box: str, found: str) -> BridgeError:
    return BridgeError(
        f"the Linen metadata {box}",
        f"it {found}.",
        "make it a dataclass (flax.struct.dataclass) with a field `value`, and the collection that "
        "of its Variable type",
    )


def to_nnx_var(col: str, x: Value) -> Variable[Value]:
    """Return the Variable for a variable of a Linen collection.

    Args:
        col: The collection; a Variable type of that name is made where there is none.
        x: The value, bare or boxed. The fields of a box become metadata.

    Raises:
        BridgeError: The box is no dataclass, or an `NNXMeta` of another Variable type.
    """
    return variable_of(col, x)


def variable_of(col: str, x: Value, **metadata: Any) -> Variable[Value]:
    """Return the Variable for a variable of a Linen collection, with more metadata."""
    kind: type[Variable[Value]] = variable_type_from_name(col, allow_register=True)
    if isinstance(x, VariableMetadata) or not is_box(x):
        return kind(x)
    if isinstance(x, nnx_meta_class()):
        box: Linen = x
        boxed: type = box.var_type
        if boxed is not kind:
            found = f"holds a {boxed.__name__}, and the collection {col!r} {kind.__name__}s"
            raise _wrong_box("NNXMeta", found)
        return kind(box.value, **{**box.metadata, **metadata})
    fields: Any = getattr(x, "__dataclass_fields__", None)
    if fields is None or "value" not in fields:
        raise _wrong_box(type(x).__name__, "is not a dataclass with a field `value`")
    given = {_TO_NNX.get(name, name): getattr(x, name) for name in fields if name != "value"}
    # The order that NNX has: the mesh, then what it is for.
    ordered = {name: given.pop(name) for name in ("mesh", "out_sharding") if name in given}
    return kind(x.value, **{**ordered, **given, "linen_meta_type": type(x), **metadata})


def _no_collection(got: object, where: str) -> BridgeError:
    return BridgeError(
        f"Cannot infer collection name from value at {where}",
        f"{got!r} ({type(got).__name__}); expected Variables in nested dicts.",
        "wrap the value in a Variable: nnx.Param(value), nnx.Cache(value), ...",
    )


def get_col_name(keypath: Iterable[object]) -> str:
    """Return the collection of a leaf of Linen variables: the first key of its path in jax's form.

    Raises:
        BridgeError: The path does not begin with the key of a dict.
    """
    first: Value = next(iter(keypath), None)
    if not isinstance(first, jax.tree_util.DictKey):
        raise _no_collection(first, "the beginning of a path")
    return str(first.key)


def sort_variable_types(types: Iterable[type]) -> list[type]:
    """Return types with every subclass before its bases, so that the first that fits is the best."""
    return sorted(types, key=lambda typ: -len(typ.__mro__))


def linen_vars_to_nnx_attrs(variables: Mapping[str, Any]) -> Attributes:
    """Return the attributes for Linen variables: nested dicts of Variables without collections.

    Args:
        variables: Nested mappings by collection; everything else in them is a value.

    Raises:
        BridgeError: Two collections have a variable under one path.
    """
    return attrs_of(variables)


def attrs_of(variables: Mapping[str, Any], **metadata: Any) -> Attributes:
    """Return the attributes for Linen variables, with more metadata for those in boxes."""
    attrs: Attributes = {}
    homes: dict[Path, str] = {}
    for col in sorted_keys(variables):
        tree = variables[col]
        for path, value in sorted_items(tree) if isinstance(tree, Mapping) else [((), tree)]:
            _place(attrs, homes, path, str(col), variable_of(str(col), value, **metadata))
    return attrs


def _place(
    attrs: Attributes, homes: dict[Path, str], path: Path, col: str, value: Variable[Value]
) -> None:
    level: Value = attrs
    for depth, key in enumerate(path[:-1], start=1):
        level = level.setdefault(key, {})
        if isinstance(level, Variable):
            raise _duplicate(path[:depth], homes[path[:depth]], col)
    if path[-1] in level:
        other = homes.get(path) or next(
            home for at, home in homes.items() if at[: len(path)] == path
        )
        raise _duplicate(path, other, col)
    level[path[-1]] = value
    homes[path] = col


def _duplicate(path: Path, first: str, second: str) -> BridgeError:
    return BridgeError(
        "linen_vars_to_nnx_attrs",
        f"Found duplicate variable path {path} in the Linen collections {first!r} and {second!r}; "
        "a Module has one attribute for both.",
        "give one of the two Linen variables another name",
    )


def nnx_attrs_to_linen_vars(nnx_attrs: Mapping[str, Any]) -> Collections:
    """Return the Linen variables, by collection, for nested mappings of Variables.

    The inverse of `linen_vars_to_nnx_attrs`.

    Raises:
        BridgeError: A leaf is no Variable, or its type has no registered name
            (`VariableError`).
    """
    return collected(nnx_attrs, to_linen_var)


def collected(
    attrs: Mapping[Any, Value],
    convert: Callable[[Variable[Value]], Value] | None,
    allow_register: bool = False,
    wanted: Callable[[str], bool] = lambda col: True,
) -> Collections:
    """Return the Linen variables, by collection, for nested mappings of Variables.

    `convert` makes the Linen variable of a Variable; without it the bare value is taken. With
    `allow_register` a Variable type without a name gets that of its class, and bare arrays are a
    collection of their own.
    """
    found: dict[str, list[tuple[Path, Value]]] = {}
    for path, leaf in flat_items(attrs):
        if isinstance(leaf, Variable):
            col = variable_name_from_type(type(leaf), allow_register=allow_register)
        elif allow_register and isinstance(leaf, jax.Array):
            col = ARRAYS
        else:
            raise _no_collection(leaf, "/".join(map(str, path)))
        if not wanted(col):
            continue
        value = leaf
        if isinstance(leaf, Variable):
            value = leaf.get_value() if convert is None else convert(leaf)
        found.setdefault(col, []).append((path, value))
    return {col: nested_of(items) for col, items in found.items()}


def with_partitioning(
    fn: Callable[..., Any], names: tuple[str | None, ...], mesh: object = None
) -> Callable[..., VariableMetadata[Any]]:
    """Return an initializer whose Variable becomes a ``flax.linen.Partitioned`` in Linen.

    Args:
        fn: The initializer.
        names: The axis of the mesh for each axis of the array; None for an axis that is not split.
        mesh: The mesh; None for the current one.
    """
    box = flax_modules("bridge.with_partitioning").core.meta.Partitioned

    def initialize(*args: Any, **kwargs: Any) -> VariableMetadata[Any]:
        metadata = {"out_sharding": names, "mesh": mesh, "linen_meta_type": box}
        return VariableMetadata(fn(*args, **kwargs), metadata=metadata)

    return initialize


def fill(node: object, attrs: Mapping[Key, Value], path: Path = ()) -> list[Path]:
    """Write Variables, leaves of nested mappings, into an object or a container, in place.

    A Variable that is there stays the same object, so that whoever holds it sees the new value; what is
    not there yet becomes an attribute, and its path is returned.
    """
    unknown: list[Path] = []
    known = dict(all_entries(node))
    wrap = getattr(type(node), "_nnx_waiting", dict)  # a `bridge.Module` has not made it yet
    for key, value in attrs.items():
        here = (*path, key)
        there = known.get(key, MISSING)
        if isinstance(there, Variable):
            _write(node, key, there, value)
        elif isinstance(value, Mapping) and kind_of(there) in (OBJECT, CONTAINER):
            unknown += fill(there, value, here)
        elif kind_of(there) == LEAF and isinstance(value, Variable):
            _set(node, key, value.get_value())
        else:
            is_level = isinstance(value, Mapping)
            unknown += [at for at, _ in flat_items(value, here)] if is_level else [here]
            _set(node, key, wrap(value) if is_level else value)
    return unknown


def _write(node: object, key: Key, there: Variable[Value], value: Value) -> None:
    known = there.get_metadata()
    if isinstance(value, Mapping):  # the value of the Variable is a dict itself
        there.set_raw_value(values_in(value))
    elif isinstance(there.get_raw_value(), jax.Ref):
        there.get_raw_value()[...] = value.get_value()
    elif all(
        name in _KEPT_AS or (name in known and known[name] == given)
        for name, given in value.get_metadata().items()
    ):
        there.set_raw_value(value.get_raw_value())
    elif type(value) is type(there):
        there.update_from_state(value)
    else:
        _set(node, key, value)


def values_in(value: Value) -> Value:
    """Return the values of Variables in nested mappings, in nested dicts."""
    if isinstance(value, Mapping):
        return {key: values_in(inner) for key, inner in value.items()}
    return value.get_value()


def _set(node: object, key: Key, value: Value) -> None:
    if isinstance(node, Pytree) and isinstance(key, str):
        setattr(node, key, data(value))
    elif isinstance(node, MutableMapping):
        node[key] = value
    else:
        raise BridgeError(
            type(node).__name__,
            f"cannot take a new entry {key!r} from Linen variables.",
            "pass variables of the same structure as those that init returned",
        )


def unbound_method(
    cls: type, method: Callable[..., Any] | str, where: str, argument: str = "method"
) -> Callable[..., Any]:
    """Return a method, given by its name or itself, as a function; errors name `where`."""
    found: Value = getattr(cls, method) if isinstance(method, str) else method
    if not callable(found):
        expected = "the name of a method or a function that takes the module first"
        fix = f"{where}(..., {argument}='name')"
        raise BridgeError.of_argument(where, argument, found, expected, fix)
    unbound: Value = getattr(found, "__func__", found)
    function: Callable[..., Any] = unbound
    return function
