"""`call` and `GraphDef.apply`: what stands for an object that is merged at each call."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub

_CALLS = """
M_co = TypeVar("M_co", covariant=True)
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

class _Calls(Protocol[P, R_co, S_co]):
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def __nnx_state__(self, /) -> S_co: ...

class _Merged(Generic[M_co]): ...

# What is inside the object may be anything.
class _AppliedPart(Generic[M_co]):
    def __getattr__(self, name: str, /) -> _AppliedPart[M_co]: ...
    def __getitem__(self, key: Any, /) -> _AppliedPart[M_co]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, tuple[GraphDef[M_co], State[Any, Any, M_co, Any]]]: ...
"""

# A base carries the object's type, so that the object and what it is called with are both known.
_APPLIED = """
class Applied(_Merged[M_co]):
    def __getattr__(self, name: str, /) -> _AppliedPart[M_co]: ...
    def __getitem__(self, key: Any, /) -> _AppliedPart[M_co]: ...
    @overload
    def __call__(self: _Merged[Never], *args: Any, **kwargs: Any) -> tuple[Any, tuple[GraphDef[Any], State[Any, Any, Any, Any]]]: ...
    @overload
    def __call__(self: _Merged[_Calls[P, R, S]], *args: P.args, **kwargs: P.kwargs) -> tuple[R, tuple[GraphDef[M_co], S]]: ...
"""

_CALL_PROXY = """
class CallProxy(Applied[A]):
    def __init__(self, build: Callable[[], Any], steps: tuple[Callable[[Any], Any], ...] = ()) -> None: ...
"""

STUBS = (
    ModuleStub(
        module="typed_nnx._graph.graphdef",
        definitions={"Applied": f"{_CALLS}\n{_APPLIED}"},
        imports=("from typing import Never, ParamSpec, Protocol, overload",),
    ),
    ModuleStub(
        module="typed_nnx._graph.call",
        definitions={
            "CallProxy": _CALL_PROXY,
            "call": "def call(graphdef_state: tuple[GraphDef[A], *tuple[Any, ...]], /) -> CallProxy[A]: ...",
        },
        imports=("from typed_nnx._graph.graphdef import Applied",),
    ),
)
