"""What is known of a leaf without its bytes: how it is described, stored and compared."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.references import is_array_ref

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
    """A leaf as it is, or as it was saved.

    Attributes:
        kind: An array of numbers, of typed PRNG keys, or a plain value of Python.
        dtype: The name of the dtype; of a value, the name of its type.
        shape: The shape; that of a value is ``()``.
        impl: The name of the implementation of typed keys.
        holder: What held the array.
        weak: Whether its type is weak, as that of a Python scalar is.
        value: The value of Python, in JSON.
        abstract: Only shape and dtype are known, as under `eval_shape`.
    """

    kind: Kind
    dtype: str
    shape: tuple[int, ...] = ()
    impl: str | None = None
    holder: Holder = "jax"
    weak: bool = False
    value: Any = None
    abstract: bool = False

    def __str__(self) -> str:
        if self.kind == "value":
            return f"{self.dtype} (a value of Python)"
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @property
    def has_data(self) -> bool:
        """Whether there are bytes to write."""
        return self.kind != "value" and 0 not in self.shape

    def to_json(self) -> dict[str, Any]:
        """Return the record in JSON, less what is as usual."""
        fields = {name: getattr(self, name) for name in ("kind", "dtype", "impl", "holder", "weak")}
        usual = {"kind": "array", "impl": None, "holder": "jax", "weak": False}
        found = {name: value for name, value in fields.items() if value != usual.get(name, "")}
        if self.kind == "value":
            return {**found, "value": self.value}
        return {**found, "shape": list(self.shape)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Record:
        """Return the record that `to_json` wrote."""
        known = {name: fields[name] for name in _FIELDS if name in fields}
        return cls(**{"kind": "array", **known, "shape": tuple(fields.get("shape", ()))})


_FIELDS = ("kind", "dtype", "impl", "holder", "weak", "value")


def record_of(value: Any) -> Record | str:
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


def _of_array(value: Any, holder: Holder) -> Record:
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        impl = str(jax.random.key_impl(value)) if isinstance(value, jax.Array) else None
        return Record("key", str(value.dtype), value.shape, impl, holder)
    return Record("array", np.dtype(value.dtype).name, value.shape, None, holder)


def _of_value(value: Any) -> Record | str:
    kind = type(value)
    if kind in (bool, int, str):
        return Record("value", kind.__name__, value=value)
    if kind is float:
        return Record("value", "float", value=value.hex())
    if kind is complex:
        return Record("value", "complex", value=[value.real.hex(), value.imag.hex()])
    if kind is bytes:
        return Record("value", "bytes", value=base64.b64encode(value).decode())
    return f"{kind.__name__}, which is neither an array nor a plain value of Python"


def stored_dtype(dtype: str) -> str:
    """Return the dtype in which arrays of a dtype are written."""
    return _WIDER.get(dtype) or _SAME_BITS.get(dtype) or dtype


def as_dtype(array: Any, dtype: str) -> Any:
    """Return an array of a dtype as it is written, or one as it is written as it was.

    Args:
        array: An array of jax or numpy.
        dtype: The dtype to have, `stored_dtype` of that of the array or the other way round.
    """
    now = np.dtype(array.dtype).name
    if now == dtype:
        return array
    if {now, dtype} & _WIDER.keys():
        return array.astype(dtype)
    if isinstance(array, jax.Array):
        return jax.lax.bitcast_convert_type(array, np.dtype(dtype))
    return array.view(np.dtype(dtype))


def value_from(record: Record) -> Any:
    """Return the value of Python that a record holds."""
    found: Any = record.value
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

    Args:
        target: The leaf of the model.
        found: The stored leaf.
        foreign: Another program wrote it, for which typed keys may be their data.
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
