# Generated from the source of typed_nnx._transforms.checkify by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from jax.experimental import checkify as jax_checkify
from typed_nnx._transforms.lifted import Lifted
from typing import Any
from typing import ParamSpec
from typing import TypeAlias
from typing import TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Errors: TypeAlias = frozenset[type[Any]]

class Checked(Lifted[P, R]):
    _errors: Errors
    transform = "checkify"
    def __init__(
        self,
        function: Callable[P, Any],
        errors: Errors,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

def checkify(
    f: Callable[P, R],
    errors: Errors = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, tuple[jax_checkify.Error, R]]: ...
