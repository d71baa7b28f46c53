"""Functions under transforms of NNX, as code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typed_nnx_codegen.migrate.linen.running.values import NONE, Const, Value
from typed_nnx_codegen.migrate.linen.transforms.lifts import Lift, Unsupported
from typed_nnx_codegen.migrate.linen.transforms.settings import (
    Spelled,
    axes_of,
    axis_code,
    size_setting,
    static_code,
)
from typed_nnx_codegen.migrate.linen.transforms.state import Refer, state_axes


@dataclass(frozen=True)
class Mapped:
    """What is known of a function that is transformed, beside its code.

    Attributes:
        collections: The collections of the module that it is called with.
        draws: Whether it draws random keys.
        kept: The positions of the arguments that it is called with, counted without the module;
            the others are written into it.
        count: How many arguments it had.
    """

    collections: frozenset[str]
    draws: bool
    kept: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class Wrapping:
    """Writes transforms.

    Attributes:
        mapped: What is known of the function.
        spelled: Writes settings.
        refer: Spells public names of NNX.
        positional: How many arguments are given by position; the others are the same for all.
    """

    mapped: Mapped
    spelled: Spelled
    refer: Refer
    positional: int

    def wrapped(self, function: str, lifts: Sequence[Lift]) -> str:
        """Return a function under transforms, outermost first."""
        for lift in reversed(lifts):
            name, settings = self.transform(lift)
            plain = f"({function})" if function.startswith("lambda") else function
            function = name.format(", ".join([function, *settings]))
            if lift.condition:
                function = f"({function} if {lift.condition} else {plain})"
        return function

    def transform(self, lift: Lift) -> tuple[str, list[str]]:
        """Return a transform of NNX, with a place for its arguments, and its settings.

        Raises:
            Unsupported: NNX cannot do the same.
        """
        match lift.kind:
            case "remat" | "jit":
                return f"{self.refer(f'nnx.{lift.kind}')}({{}})", self._same(lift)
            case "vmap":
                return self._vmap(lift)
            case "scan":
                return f"{self.refer('nnx.scan')}({{}})", self._scan(lift)
        raise Unsupported(f"`nn.{lift.kind}` is not migrated here")

    def _same(self, lift: Lift) -> list[str]:
        closed = [k + 1 for k in range(self.mapped.count) if k not in self.mapped.kept]
        found: list[str] = []
        for name in lift.kept:
            if name == "static_argnums":
                found.append(f"{name}={static_code(lift, closed, self.spelled)}")
            else:
                found.append(f"{name}={self.spelled(lift.given[name])}")
        return found

    def _metadata(self, lift: Lift) -> list[str]:
        bound = lift.given.get("metadata_params")
        return [] if bound is None else [f"transform_metadata={self.spelled(bound)}"]

    def _is_stacked(self, lift: Lift) -> bool:
        return lift.stacks(self.mapped.collections)

    def _axes(self, lift: Lift, count: int) -> list[Value]:
        return [*axes_of(lift, count), *(NONE for _ in range(self.mapped.count - self.positional))]

    # -- vmap ---------------------------------------------------------------------------------

    def _vmap(self, lift: Lift) -> tuple[str, list[str]]:
        axes = self._axes(lift, self.positional)
        is_stacked = self._is_stacked(lift)
        shares_keys = not is_stacked and self.mapped.draws and lift.splits_any
        state = state_axes(
            lift, self.mapped.collections, self.refer, random=0 if shares_keys else ""
        )
        codes = [axis_code(axes[k], lift, "in_axes", self.spelled) for k in self.mapped.kept]
        settings = [f"in_axes={_tuple([state, *codes])}"]
        out = axis_code(lift.value("out_axes", Const(0)), lift, "out_axes", self.spelled)
        if out != "0":
            settings.append(f"out_axes={out}")
        size = size_setting(lift)
        if size is not None and not is_stacked:
            settings.append(f"axis_size={self.spelled(size)}")
        settings += [*self._same(lift), *self._metadata(lift)]
        name = f"{self.refer('nnx.vmap')}({{}})"
        if shares_keys:
            if size is None:
                raise Unsupported("members draw keys of their own; give `axis_size`")
            name = f"{self.refer('nnx.split_rngs')}(splits={self.spelled(size)})({name})"
        return name, settings

    # -- scan ---------------------------------------------------------------------------------

    def _scan(self, lift: Lift) -> list[str]:
        if not self.mapped.kept or self.mapped.kept[0] != 0:
            raise Unsupported("`nn.scan` is called without a carry")
        axes = self._axes(lift, self.positional - 1)
        is_stacked = self._is_stacked(lift)
        carries_keys = not is_stacked and self.mapped.draws
        if carries_keys and not lift.splits_any:
            raise Unsupported("each step draws the same random numbers")
        state = state_axes(
            lift, self.mapped.collections, self.refer, random="carry" if carries_keys else ""
        )
        codes = [
            axis_code(axes[k - 1], lift, "in_axes", self.spelled) for k in self.mapped.kept[1:]
        ]
        out = axis_code(lift.value("out_axes", Const(0)), lift, "out_axes", self.spelled)
        carry = self.refer("nnx.Carry")
        settings = [f"in_axes={_tuple([state, carry, *codes])}", f"out_axes=({carry}, {out})"]
        size = size_setting(lift)
        if size is not None:
            settings.append(f"length={self.spelled(size)}")
        return [*settings, *self._same(lift), *self._metadata(lift)]


def _tuple(codes: Sequence[str]) -> str:
    inner = ", ".join(codes)
    return f"({inner},)" if len(codes) == 1 else f"({inner})"
