"""Stubs of the transforms that compile, trace or check a function, and of its stages."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families import abstract
from typed_nnx_codegen.stubgen.families.abstract import abstract_overloads
from typed_nnx_codegen.stubgen.families.decorating import (
    IMPORTS,
    MODES,
    Decorating,
    overload_text,
    signature_text,
)

JIT_OPTIONS = (
    "in_shardings: Any = None",
    "out_shardings: Any = None",
    "static_argnums: ArgNums = None",
    "static_argnames: ArgNames = None",
    "donate_argnums: ArgNums = None",
    "donate_argnames: ArgNames = None",
    "keep_unused: bool = False",
    "device: Device | None = None",
    "backend: str | None = None",
    "inline: bool = False",
    *MODES,
)
"""The options of `jit`. A sharding may be anything that jax takes for one, or a tree of them."""

TABLE = (
    Decorating("jit", JIT_OPTIONS, parameter="fun", gives="JitWrapped[P, R]"),
    Decorating(
        "remat",
        (
            "prevent_cse: bool = True",
            "static_argnums: int | tuple[int, ...] = ()",
            "policy: Callable[..., bool] | None = None",
            *MODES,
        ),
    ),
)

MAKE_JAXPR = Decorating(
    "make_jaxpr",
    ("static_argnums: int | Sequence[int] = ()", *MODES),
    takes="Callable[P, Any]",
    gives="Traceable[P]",
)

STAGES = (
    ("trace", "Traced[R]"),
    ("lower", "Lowered[R]"),
    ("compile", "Compiled[R]"),
    ("eval_shape", "R"),
)
"""What a jitted function is asked for without being called, and what that returns."""

_INSIDE = "    "
_SELF = ("self",)


def _stages() -> str:
    """Return the class of what has stages."""
    methods = [
        abstract_overloads(name, result, before=_SELF, anything=_SELF, indent=_INSIDE)
        for name, result in STAGES
    ]
    implemented = [
        signature_text(
            name,
            ("self", "args: tuple[Any, ...]", "kwargs: Mapping[str, Any]"),
            result,
            indent=_INSIDE,
        )
        for name, result in (("_traced", "Traced[R]"), ("_shapes", "R"))
    ]
    return "class HasStages(Generic[P, R]):\n" + "".join([*methods, *implemented])


# mypy thinks that the first overload takes everything, since it does not know the function yet.
_TAKES_ALL = "type: ignore[overload-cannot-match]"


def _eval_shape() -> str:
    """Return the overloads of `eval_shape`; nothing may stand between ``P.args`` and ``P.kwargs``."""
    graph, graph_updates = (mode.removesuffix(" = None") for mode in MODES)
    own = abstract_overloads(
        "eval_shape",
        "A",
        before=("f: Callable[_P, A]",),
        anything=("f: Callable[..., A]",),
        parameters="_P",
        remark=_TAKES_ALL,
    )
    with_modes = [
        ("f: Callable[..., A]", "*args: Any", *modes, "**kwargs: Any")
        for modes in ((graph, MODES[1]), (MODES[0], graph_updates))
    ]
    return own + "".join(
        overload_text("eval_shape", parameters, "A", remark=_TAKES_ALL) for parameters in with_modes
    )


def _make_jaxpr() -> dict[str, str]:
    """Return the class and the function."""
    init = signature_text(
        "__init__",
        (
            "self",
            "function: Callable[P, Any]",
            "static_argnums: int | Sequence[int]",
            "graph: bool | None",
            "graph_updates: bool | None",
        ),
        "None",
        indent=_INSIDE,
    )
    call = abstract_overloads(
        "__call__", "ClosedJaxpr", before=_SELF, anything=_SELF, indent=_INSIDE
    )
    return {
        "Traceable": f"class Traceable(Lifted[P, ClosedJaxpr]):\n    transform: str\n{init}{call}",
        "make_jaxpr": MAKE_JAXPR.text(),
    }


_CHECKIFY = signature_text(
    "checkify",
    ("f: Callable[P, R]", "errors: Errors = ...", *MODES),
    "Callable[P, tuple[jax_checkify.Error, R]]",
)

STUBS = (
    *[
        ModuleStub(f"typed_nnx._transforms.{row.name}", {row.name: row.text()}, imports=IMPORTS)
        for row in TABLE
    ],
    ModuleStub(
        "typed_nnx._transforms.jit_stages",
        {"HasStages": _stages()},
        preamble=abstract.PREAMBLE,
        imports=abstract.IMPORTS,
    ),
    ModuleStub(
        "typed_nnx._transforms.eval_shape",
        {"eval_shape": _eval_shape()},
        preamble=f'_P = ParamSpec("_P")\n{abstract.PREAMBLE}',
        imports=abstract.IMPORTS,
    ),
    ModuleStub(
        "typed_nnx._transforms.make_jaxpr",
        _make_jaxpr(),
        preamble=abstract.PREAMBLE,
        imports=(*abstract.IMPORTS, *IMPORTS),
    ),
    ModuleStub("typed_nnx._transforms.checkify", {"checkify": _CHECKIFY}, imports=IMPORTS),
)
