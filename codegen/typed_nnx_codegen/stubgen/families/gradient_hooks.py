"""What gradients are found by: the phantom methods of Modules, and the type of a `DiffState`."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.gradient_parts import LORA, PARAMS, POSITIONS


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


# mypy takes MYPY for true. It cannot infer a State through a generic method in the type of `self`,
# and pyright, which can, knows the overlay of a user's models in this way.
_STATE_HOOKS = f"""
class StateHooks:
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_self__(self, /) -> Self: ...
    def __nnx_state__(self, /) -> State[Any, Any, Self, Any]: ...
    def __nnx_part__(self, taken: F, /) -> State[Any, Any, Self, F]: ...
    def __nnx_rest__(self, taken: object, /) -> State[Any, Any, Self, EllipsisType]: ...
    if MYPY:
        def __nnx_params__(self, /) -> State[Any, Any, Self, {PARAMS}]: ...  # pyright: ignore[reportRedeclaration]
        def __nnx_lora_params__(self, /) -> State[Any, Any, Self, {LORA}]: ...  # pyright: ignore[reportRedeclaration]
    else:
        def __nnx_params__(self: SupportsPart[{PARAMS}, S], /) -> S: ...
        def __nnx_lora_params__(self: SupportsPart[{LORA}, S], /) -> S: ...
"""

STUBS = (
    ModuleStub(
        module="typed_nnx._core.state_hooks",
        definitions={"StateHooks": _STATE_HOOKS},
        preamble="MYPY: bool",
        imports=(
            "from typing import ClassVar",
            "from typed_nnx._core.state import State",
            "from typed_nnx._core.variable_types import LoRAParam, Param",
        ),
    ),
    ModuleStub(
        module="typed_nnx._transforms.prefixes",
        definitions={"DiffState": _diff_state()},
        preamble='_V = TypeVar("_V", bound=Variable[Any])\n_Filter = TypeVar("_Filter", bound=Filter)',
        imports=("from typing import Literal, overload",),
    ),
)
