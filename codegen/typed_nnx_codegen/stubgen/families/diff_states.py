"""The type of a `DiffState`: it says which argument is meant, and which of its Variables."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.gradient_parts import POSITIONS


def _diff_state() -> str:
    """Return the class `DiffState`: its type says which argument it means."""
    lines = ["class DiffState(Generic[N, F]):", "    argnum: int", "    filter: Filter"]
    numbers = [*(f"Literal[{position}]" for position in POSITIONS), "int"]
    for filter_ in ("type[_V]", "_Filter"):
        for number in numbers:
            own = f"self: DiffState[{number}, {filter_}]"
            lines += [
                "    @overload",
                f"    def __init__({own}, argnum: {number}, filter: {filter_}) -> None: ...",
            ]
    lines += [
        "    def map_prefix(self, path: Path, variable: Any) -> bool: ...",
        "    def __eq__(self, other: object) -> bool: ...",
        "    def __hash__(self) -> int: ...",
    ]
    return "\n".join(lines)


STUBS = (
    ModuleStub(
        module="typed_nnx._transforms.prefixes",
        definitions={"DiffState": _diff_state()},
        preamble='_V = TypeVar("_V", bound=Variable[Any])\n_Filter = TypeVar("_Filter", bound=Filter)',
        imports=("from typing import Literal, overload",),
    ),
)
