"""How far two values are from each other, and whether that is too far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.migrate.weights.trees import shape_text
from typed_nnx_codegen.verify.comparable import Opaque, as_numpy, is_array, is_float

Kind = Literal["outputs", "collections", "gradients"]
State = Literal["equal", "differs", "random"]


@dataclass(frozen=True)
class Tolerance:
    """How far values may be from each other.

    Two numbers are equal if their difference is at most `atol` times the largest number of the
    array, or `atol` where that is below 1, plus `rtol` times the number.

    Attributes:
        rtol: Relative to each number.
        atol: Relative to the array.
    """

    rtol: float = 1e-5
    atol: float = 1e-5


@dataclass(frozen=True)
class Item:
    """One value that was compared.

    Attributes:
        kind: What it is of.
        path: Where it is in that.
        state: Whether both sides agree; "random" where Linen draws it anew each time.
        max_abs: The largest absolute difference.
        max_rel: The largest relative difference.
        note: What else there is to say.
    """

    kind: Kind
    path: str
    state: State
    max_abs: float = 0.0
    max_rel: float = 0.0
    note: str = ""

    @property
    def is_shape(self) -> bool:
        """Whether the values could not even be subtracted."""
        return self.state == "differs" and bool(self.note) and not self.max_abs

    def drawn(self) -> Item:
        """Return the same for a value that Linen draws anew each time."""
        return replace(self, state="random", note="")


def compared(
    kind: Kind, found: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Tolerance
) -> list[Item]:
    """Compare leaves by path: those of the migrated model with those of Linen."""
    items = []
    for path, value in expected.items():
        if path not in found:
            items.append(Item(kind, path, "differs", note=f"missing; Linen has {_shown(value)}"))
        else:
            items.append(compared_one(kind, path, found[path], value, tolerance))
    for path in found.keys() - expected.keys():
        items.append(Item(kind, path, "differs", note=f"Linen has none; {_shown(found[path])}"))
    return items


def compared_one(kind: Kind, path: str, found: Any, expected: Any, tolerance: Tolerance) -> Item:
    """Compare one leaf."""
    if not (_is_number(found) and _is_number(expected)):
        # An array beside anything else is no number beside a number: `==` would ask every element.
        same = type(found) is type(expected) and found == expected
        note = "" if same else f"{_shown(found)}; Linen has {_shown(expected)}"
        return Item(kind, path, "equal" if same else "differs", note=note)
    both_arrays = is_array(found) and is_array(expected)
    if np.shape(found) != np.shape(expected) or (both_arrays and found.dtype != expected.dtype):
        note = f"{shape_text(found)}; Linen has {shape_text(expected)}"
        return Item(kind, path, "differs", note=note)
    item = _numbers(kind, path, as_numpy(found), as_numpy(expected), tolerance)
    is_half = both_arrays and found.dtype.itemsize <= 2 and is_float(found)
    if is_half and item.state == "differs" and not item.note:
        step = float(jnp.finfo(found.dtype).eps)  # type: ignore[no-untyped-call]  # jax does not type it
        return replace(item, note=f"one step of {found.dtype} is {step:.0e}, see --rtol and --atol")
    return item


def _numbers(kind: Kind, path: str, found: Any, expected: Any, tolerance: Tolerance) -> Item:
    if found.size == 0:
        return Item(kind, path, "equal")
    wide = np.complex128 if "c" in (found.dtype.kind, expected.dtype.kind) else np.float64
    one, other = found.astype(wide), expected.astype(wide)
    finite = np.isfinite(other)
    # NaN equals NaN and infinities equal themselves; where only one side has one, nothing is near.
    alike = (one == other) | (np.isnan(one) & np.isnan(other))
    distance = np.where(alike, 0.0, np.abs(np.where(alike, 0.0, one - np.where(alike, 0.0, other))))
    distance = np.where(np.isfinite(distance), distance, np.inf)
    largest = float(np.abs(other[finite]).max()) if finite.any() else 0.0
    magnitude = np.where(finite, np.abs(np.where(finite, other, 0.0)), 0.0)
    allowed = tolerance.atol * max(1.0, largest) + tolerance.rtol * magnitude
    relative = distance / np.maximum(magnitude, np.finfo(np.float32).tiny)
    broken = int((~finite).sum())
    return Item(
        kind,
        path,
        "equal" if bool((distance <= allowed).all()) else "differs",
        float(distance.max()),
        float(np.where(distance > 0, relative, 0.0).max()),
        f"{broken} of {finite.size} are not finite" if broken else "",
    )


def _is_number(value: Any) -> bool:
    return is_array(value) or isinstance(value, bool | int | float | complex)


def _shown(value: Any) -> str:
    if isinstance(value, Opaque):
        return value.kind
    return shape_text(value) if is_array(value) else repr(value)[:60]
