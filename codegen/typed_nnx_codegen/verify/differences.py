"""How far two values are from each other, and whether that is too far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.migrate.weights.trees import shape_text
from typed_nnx_codegen.verify.comparable import Opaque, as_numpy, is_array

Kind = Literal["outputs", "collections", "gradients"]
State = Literal["equal", "differs", "random"]


# The bytes of a float of 16 bits.
_HALF: Final = 2
# How many steps of a dtype of 16 bits two values may be apart: layers round in other places.
_STEPS: Final = 4
# Below this, numbers of 16 bits are taken for what is left of larger ones.
_SMALL: Final = 0.1


@dataclass(frozen=True)
class Tolerance:
    """How far values may be from each other.

    Two numbers are equal if their difference is at most `atol` times the largest number of the
    array, or `atol` where that is below 1, plus `rtol` times the number. Where something is
    computed with 16 bits, they are equal also if it is at most a few steps of that dtype, relative
    to the largest number of the array.

    Attributes:
        rtol: Relative to each number.
        atol: Relative to the array.
        step: The step of the dtype that the model computes with where it is one of 16 bits, else 0.
    """

    rtol: float = 1e-5
    atol: float = 1e-5
    step: float = 0.0

    def allowed(self, magnitude: Any, largest: float, dtype: Any) -> Any:
        """Return how far each number may be off.

        Args:
            magnitude: The absolute value of each number.
            largest: The largest of them.
            dtype: The dtype of the array; None for a number of Python.
        """
        exact = self.atol * max(1.0, largest) + self.rtol * magnitude
        step = max(self.step, step_of(dtype))
        return np.maximum(exact, _STEPS * step * (max(_SMALL, largest) + magnitude))


def step_of(dtype: Any) -> float:
    """Return the step of a dtype at 1 where it is a float of at most 16 bits, else 0."""
    if dtype is None or not jnp.issubdtype(dtype, jnp.floating) or dtype.itemsize > _HALF:
        return 0.0
    return float(jnp.finfo(dtype).eps)  # type: ignore[no-untyped-call]  # jax does not type it


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
    dtype = expected.dtype if both_arrays else None
    return _numbers(Item(kind, path, "equal"), found, expected, tolerance, dtype)


def _numbers(item: Item, found: Any, expected: Any, tolerance: Tolerance, dtype: Any) -> Item:
    found, expected = as_numpy(found), as_numpy(expected)
    if found.size == 0:
        return item
    wide = np.complex128 if "c" in (found.dtype.kind, expected.dtype.kind) else np.float64
    one, other = found.astype(wide), expected.astype(wide)
    finite = np.isfinite(other)
    # NaN equals NaN and infinities equal themselves; where only one side has one, nothing is near.
    alike = (one == other) | (np.isnan(one) & np.isnan(other))
    distance = np.where(alike, 0.0, np.abs(np.where(alike, 0.0, one - np.where(alike, 0.0, other))))
    distance = np.where(np.isfinite(distance), distance, np.inf)
    largest = float(np.abs(other[finite]).max()) if finite.any() else 0.0
    magnitude = np.where(finite, np.abs(np.where(finite, other, 0.0)), 0.0)
    allowed = tolerance.allowed(magnitude, largest, dtype)
    relative = distance / np.maximum(magnitude, np.finfo(np.float32).tiny)
    broken = int((~finite).sum())
    return replace(
        item,
        state="equal" if bool((distance <= allowed).all()) else "differs",
        max_abs=float(distance.max()),
        max_rel=float(np.where(distance > 0, relative, 0.0).max()),
        note=f"{broken} of {finite.size} are not finite" if broken else "",
    )


def _is_number(value: Any) -> bool:
    return is_array(value) or isinstance(value, bool | int | float | complex)


def _shown(value: Any) -> str:
    if isinstance(value, Opaque):
        return value.kind
    return shape_text(value) if is_array(value) else repr(value)[:60]
