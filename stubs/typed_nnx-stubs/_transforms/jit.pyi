# Generated from the source of typed_nnx._transforms.jit by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Sequence
from typed_nnx._core.bounded import Bounded
from typed_nnx._transforms import jit_dispatch
from typed_nnx._transforms.argnums import ArgNames
from typed_nnx._transforms.argnums import ArgNums
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.jit_stages import Staged
from typed_nnx._transforms.prefixes import Prefix
from typed_nnx._transforms.signature import Signature
from typing import Any
from typing import NamedTuple
from typing import ParamSpec
from typing import TypeAlias
from typing import TypeVar
from typing import overload

Device: TypeAlias = Any
P = ParamSpec("P")
R = TypeVar("R")

class JitOptions(NamedTuple):
    in_shardings: Any = ...
    out_shardings: Any = ...
    static_argnums: tuple[int, ...] = ...
    static_argnames: tuple[str, ...] = ...
    donate_argnums: tuple[int, ...] = ...
    donate_argnames: tuple[str, ...] = ...
    rest: dict[str, Any] = ...
    @property
    def has_shardings(self) -> bool: ...

_BEFORE: int

class JitWrapped(Staged[P, R]):
    _quick: Bounded[Any, Signature]
    _with_shardings: Bounded[Signature, Any]
    _fixed: dict[Any, JitWrapped[P, R]]
    _options: JitOptions
    _statics: Any
    _static_names: Any
    _donated: Any
    _is_general: Any
    _signatures: Any
    _jitted: Any
    transform = "jit"
    def __init__(
        self,
        function: Callable[P, R],
        options: JitOptions,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None: ...
    def _prepare(self) -> None: ...
    def _compile(self, call: Call | None) -> Any: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def _call_with(self, args: Any, kwargs: Any, captured: list[Any]) -> R: ...
    def _finish(
        self, signature: Signature, gathered: jit_dispatch.Gathered, args: Sequence[Any], found: Any
    ) -> R: ...
    def _first_call(self, gathered: jit_dispatch.Gathered, key: Any, args: Any, kwargs: Any) -> R: ...
    def _call(self, args: Any, kwargs: Any, call: Call | None = None) -> R: ...
    def _explain(self, error: Exception, args: Any, kwargs: Any) -> None: ...
    def _jitted_for(self, signature: Signature, call: Call) -> Any: ...
    def _gather(self, args: Any, kwargs: Any) -> Call: ...
    def _prefixes(self, count: int) -> list[Prefix]: ...

@overload
def jit(
    fun: Callable[P, R],
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitWrapped[P, R]: ...
@overload
def jit(
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], JitWrapped[P, R]]: ...
