"""The leaves of a model and of a checkpoint: names, descriptions without their bytes, values."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.filters import Filter
from typed_nnx._core.jax_runtime import context, is_array_ref
from typed_nnx._core.nested import flat_items, grouped
from typed_nnx._core.nodes import CONTAINER, OBJECT, kind_of
from typed_nnx._core.paths import Key, Path, key_of_entry
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphState
from typed_nnx._graph.split import state as state_of
from typed_nnx._graph.update import update
from typed_nnx.errors import CheckpointLeafError

Value: TypeAlias = Any
"""An array of jax or numpy, a reference to one, a shape, or a plain value of Python."""

Names: TypeAlias = tuple[str, ...]
"""The encoded keys of a path."""

NO_LEAVES = "%no-leaves"
"""The name of the one leaf of a checkpoint without leaves; no key is encoded as this."""

_WHOLE = "%itself"
_INTEGER = re.compile(r"-?[0-9]+")


def encoded(key: Key) -> str:
    """Return a key as a text that no other key has."""
    if isinstance(key, int):
        return str(int(key))
    if not isinstance(key, str):
        return f"%{type(key).__name__}:{_quoted(repr(key))}"
    if not key:
        return "%"
    if _INTEGER.fullmatch(key):
        return f"%{ord(key[0]):02X}{key[1:]}"
    return _quoted(key)


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass").replace(".", "%2E").replace("~", "%7E")


def key_to_json(key: Key) -> object:
    """Return a key in JSON that keeps integers and texts apart."""
    if isinstance(key, bool) or not isinstance(key, int | str):
        return {"type": type(key).__name__, "repr": repr(key)}
    return key


Kind = Literal["array", "key", "value"]
Holder = Literal["jax", "numpy", "scalar"]

# A dtype that the file format lacks, and the one that holds its values, or its bits.
_WIDER = {"uint2": "uint8", "uint4": "uint8"}
_SAME_BITS = {"float8_e4m3": "uint8"}

DTYPES = frozenset(
    {
        "bool", "int2", "int4", "int8", "int16", "int32", "int64", "uint2", "uint4", "uint8",
        "uint16", "uint32", "uint64", "float16", "float32", "float64", "bfloat16", "complex64",
        "complex128", "float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
        "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    }
)  # fmt: skip
"""The dtypes that can be in a checkpoint."""


@dataclass(frozen=True)
class Record:
    """A leaf as it is, or as it was saved: numbers, typed PRNG keys, or a plain value of Python."""

    kind: Kind
    dtype: str  # of a value, the name of its type
    shape: tuple[int, ...] = ()
    impl: str | None = None  # the name of the implementation of typed keys
    holder: Holder = "jax"
    weak: bool = False  # as the type of a Python scalar is
    value: Value = None  # of Python, in JSON
    abstract: bool = False  # only shape and dtype are known, as under `eval_shape`

    def __str__(self) -> str:
        if self.kind == "value":
            return f"{self.dtype} (a value of Python)"
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @property
    def has_data(self) -> bool:
        """Whether there are bytes to write."""
        return self.kind != "value" and 0 not in self.shape

    def to_json(self) -> dict[str, object]:
        """Return the record in JSON, less what is as usual."""
        fields = {name: getattr(self, name) for name in ("kind", "dtype", "impl", "holder", "weak")}
        usual = {"kind": "array", "impl": None, "holder": "jax", "weak": False}
        found = {name: value for name, value in fields.items() if value != usual.get(name, "")}
        if self.kind == "value":
            return {**found, "value": self.value}
        return {**found, "shape": list(self.shape)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Record:
        known = {name: fields[name] for name in _FIELDS if name in fields}
        return cls(**{"kind": "array", **known, "shape": tuple(fields.get("shape", ()))})


_FIELDS = ("kind", "dtype", "impl", "holder", "weak", "value")


def record_of(value: Value) -> Record | str:
    """Return the record of a leaf, or in words why it has none."""
    if is_array_ref(value):
        value = value[...]
    if isinstance(value, jax.core.Tracer):
        return f"a tracer ({value.aval}), which has no value yet"
    if isinstance(value, jax.ShapeDtypeStruct):
        return replace(_of_array(value, "jax"), abstract=True)
    if isinstance(value, jax.Array):
        if value.is_deleted():
            return "a deleted (donated) array"
        return replace(_of_array(value, "jax"), weak=bool(getattr(value, "weak_type", False)))
    if isinstance(value, np.ndarray | np.generic):
        holder: Holder = "numpy" if isinstance(value, np.ndarray) else "scalar"
        found = _of_array(value, holder)
        return found if found.dtype in DTYPES else f"a numpy array of dtype {value.dtype}"
    return _of_value(value)


def _of_array(value: Value, holder: Holder) -> Record:
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        impl = str(jax.random.key_impl(value)) if isinstance(value, jax.Array) else None
        return Record("key", str(value.dtype), value.shape, impl, holder)
    return Record("array", np.dtype(value.dtype).name, value.shape, None, holder)


def _of_value(value: object) -> Record | str:
    kind = type(value).__name__
    # Not their subclasses: a bool is no int here, and an enum or a float of numpy is neither.
    match value:
        case _ if type(value) in (bool, int, str):
            return Record("value", kind, value=value)
        case float() if type(value) is float:
            return Record("value", kind, value=value.hex())
        case complex() if type(value) is complex:
            return Record("value", kind, value=[value.real.hex(), value.imag.hex()])
        case bytes() if type(value) is bytes:
            return Record("value", kind, value=base64.b64encode(value).decode())
    return f"{kind}, which is neither an array nor a plain value of Python"


def stored_dtype(dtype: str) -> str:
    """Return the dtype in which arrays of a dtype are written."""
    return _WIDER.get(dtype) or _SAME_BITS.get(dtype) or dtype


def as_dtype(array: Value, dtype: str) -> Value:
    """Return an array of a dtype as it is written, or one as it is written as it was.

    `dtype` is `stored_dtype` of that of the array, or the other way round.
    """
    now = np.dtype(array.dtype).name
    if now == dtype:
        return array
    if {now, dtype} & _WIDER.keys():
        return array.astype(dtype)
    if isinstance(array, jax.Array):
        return jax.lax.bitcast_convert_type(array, np.dtype(dtype))
    return array.view(np.dtype(dtype))


def value_from(record: Record) -> Value:
    """Return the value of Python that a record holds."""
    found = record.value
    match record.dtype:
        case "float":
            return float.fromhex(found)
        case "complex":
            return complex(*map(float.fromhex, found))
        case "bytes":
            return base64.b64decode(found)
        case _:
            return found


# Types of Python scalars, and what the names of the dtypes contain that one may have become: a step
# that jax counts is an array.
_SCALARS = {"bool": "bool", "int": "int", "float": "float", "complex": "complex"}


def fits(target: Record, found: Record, *, foreign: bool) -> bool:
    """Whether a stored leaf may take the place of a leaf of a model.

    What another program wrote (`foreign`) may have the data of typed keys in their place.
    """
    if target.kind == "value" or found.kind == "value":
        return _scalars_fit(target, found)
    if target.kind == "key" and found.kind == "array" and foreign:
        # The length of the data of one key depends on the implementation: known when it is read.
        return found.dtype == "uint32" and found.shape[:-1] == target.shape and found.shape != ()
    impls = (target.impl, found.impl)
    same_impl = None in impls or impls[0] == impls[1]
    alike = (target.kind, target.dtype, target.shape) == (found.kind, found.dtype, found.shape)
    return alike and same_impl


def _scalars_fit(target: Record, found: Record) -> bool:
    if target.kind == found.kind:
        return target.dtype == found.dtype or {target.dtype, found.dtype} <= set(_SCALARS)
    value, array = (target, found) if target.kind == "value" else (found, target)
    may_be = array.kind == "array" and array.shape == () and value.dtype in _SCALARS
    return may_be and _SCALARS[value.dtype] in array.dtype


@dataclass(frozen=True)
class Leaf:
    """An array or a value of Python that a checkpoint holds on its own."""

    path: Path  # that of the Variable or array, then the path inside its value
    depth: int  # the length of the path of the Variable or array
    variable: Variable[Value] | None
    value: Value
    record: Record

    @property
    def names(self) -> Names:
        """The names of the path in a checkpoint of ours; those of a lone Variable are not empty."""
        return tuple(map(encoded, self.path)) or (_WHOLE,)

    @property
    def foreign_names(self) -> tuple[Names, Names]:
        """The names of the path as flax writes them: of pure values, and of Variables."""
        plain = tuple(map(str, self.path))
        return plain, (*plain[: self.depth], "value", *plain[self.depth :])


@dataclass(frozen=True)
class Cell:
    """A leaf of a State: a Variable or an array, whose value may be a tree of leaves."""

    path: Path
    holder: Value
    structure: Value
    leaves: Sequence[Leaf]


def cells_of(function: str, node: object, filters: Sequence[Filter] = ()) -> list[Cell]:
    """Return the leaves of the State of a node, those that match a filter if any is given."""
    items = _items(function, node)
    if filters:
        items = [item for group in grouped(items, filters)[0] for item in group]
    bad: list[tuple[Path, str]] = []
    cells = [_cell(path, holder, bad) for path, holder in items]
    if bad:
        fix = "turn them into arrays, or leave them out: save(path, nnx.state(model, nnx.Param))"
        raise CheckpointLeafError(function, bad, fix)
    return cells


def leaves_of(cells: Sequence[Cell]) -> list[Leaf]:
    return [leaf for cell in cells for leaf in cell.leaves]


def _items(function: str, node: object) -> list[tuple[Path, Value]]:
    if isinstance(node, GraphState):
        node = node.state
    if isinstance(node, State):
        return list(flat_items(node))
    if isinstance(node, Variable):
        return [((), node)]
    if kind_of(node) not in (OBJECT, CONTAINER):
        kind = f"{type(node).__name__}, given as the whole"
        raise CheckpointLeafError(function, [((), kind)], "put it into a dict or an nnx.Variable")
    return list(flat_items(state_of(node)))


def _cell(path: Path, holder: Value, bad: list[tuple[Path, str]]) -> Cell:
    variable = holder if isinstance(holder, Variable) else None
    value = holder if variable is None else variable.get_raw_value()
    found, structure = jax.tree_util.tree_flatten_with_path(value)
    leaves = []
    for entries, part in found:
        here = (*path, *[key_of_entry(entry) for entry in entries])
        record = record_of(part)
        if isinstance(record, str):
            bad.append((here, record))
        else:
            leaves.append(Leaf(here, len(path), variable, part, record))
    return Cell(path, holder, structure, leaves)


def check_writable(cells: Sequence[Cell]) -> None:
    """Raise if a value cannot be written where it belongs."""
    for cell in cells:
        if isinstance(cell.holder, Variable) and cell.holder._nnx_trace != context.trace:
            cell.holder._refuse()


def write(node: object, cells: Sequence[Cell], values: Mapping[Path, Value]) -> None:
    """Put the new values of all leaves, by path, into the Variables and arrays of a node, in place.

    `check_writable` has passed.
    """
    made = [
        (c, jax.tree.unflatten(c.structure, [values[leaf.path] for leaf in c.leaves]))
        for c in cells
    ]
    # Bare arrays first: this may be refused (an immutable tuple), and then nothing was changed.
    _write_arrays(node, [(c.path, new) for c, new in made if not isinstance(c.holder, Variable)])
    for cell, new in made:
        if isinstance(cell.holder, Variable):
            raw = cell.holder.get_raw_value()
            if is_array_ref(raw):
                raw[...] = new
            else:
                cell.holder.set_raw_value(new)


def _write_arrays(node: object, items: Sequence[tuple[Path, Value]]) -> None:
    if isinstance(node, GraphState):
        node = node.state
    if not isinstance(node, State):
        if items:
            update(node, State.from_flat_path(items))
        return
    for path, value in items:
        level: Any = node.raw_mapping
        for key in path[:-1]:
            level = level[key]
        level[path[-1]] = value
