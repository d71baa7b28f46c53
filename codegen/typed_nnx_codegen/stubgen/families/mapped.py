"""Stubs of the transforms over axes and devices, which keep the signature of the function."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.decorating import IMPORTS, MODES, Decorating

_METADATA = "transform_metadata: Mapping[str, Any] = ..."

TABLE = (
    Decorating(
        "vmap",
        (
            "in_axes: AxisPrefix = 0",
            "out_axes: AxisPrefix = 0",
            "axis_name: Hashable | None = None",
            "axis_size: int | None = None",
            "spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None",
            _METADATA,
            *MODES,
        ),
    ),
    Decorating(
        "pmap",
        (
            "axis_name: Hashable | None = None",
            "in_axes: AxisPrefix = 0",
            "out_axes: AxisPrefix = 0",
            "static_broadcasted_argnums: int | Iterable[int] = ()",
            "devices: Sequence[Device] | None = None",
            "backend: str | None = None",
            "axis_size: int | None = None",
            "donate_argnums: int | Iterable[int] = ()",
            _METADATA,
            *MODES,
        ),
    ),
    Decorating(
        "scan",
        (
            "length: int | None = None",
            "reverse: bool = False",
            "unroll: int | bool = 1",
            "_split_transpose: bool = False",
            "in_axes: CarryPrefix = ...",
            "out_axes: CarryPrefix = ...",
            _METADATA,
            *MODES,
        ),
    ),
    Decorating(
        "shard_map",
        (
            "mesh: Mesh | AbstractMesh",
            "in_specs: SpecPrefix",
            "out_specs: SpecPrefix",
            "axis_names: AbstractSet[Hashable] = frozenset()",
            "check_vma: bool = True",
            *MODES,
        ),
    ),
    Decorating(
        "transform_metadata",
        (
            "in_axes: CarryPrefix = 0",
            "out_axes: CarryPrefix = 0",
            "partition: str | None",
            "graph: bool | None = None",
        ),
    ),
)

STUBS = tuple(
    ModuleStub(f"typed_nnx._transforms.{row.name}", {row.name: row.text()}, imports=IMPORTS)
    for row in TABLE
)
