"""Stubs of branches and loops."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.decorating import MODES, overload_text, signature_text

_IMPORTS = (
    "import jax",
    "from jax.typing import ArrayLike",
    "from collections.abc import Callable, Sequence",
    "from typing import Any, TypeAlias, TypeVar, TypeVarTuple, overload",
    "from typed_nnx._core.variable import Variable",
)
_SCALAR = """\
# What a condition, an index or a bound may be.
_Scalar: TypeAlias = ArrayLike | Variable[Any]
"""
_BRANCHES = f"""\
{_SCALAR}
_B = TypeVar("_B")
_Ts = TypeVarTuple("_Ts")
"""
_OPERANDS = ("*operands: *_Ts", *MODES)

COND = signature_text(
    "cond",
    (
        "pred: _Scalar",
        "true_fun: Callable[[*_Ts], A]",
        "false_fun: Callable[[*_Ts], _B]",
        *_OPERANDS,
    ),
    "A | _B",
)

# mypy finds no common type for a list of functions that return different things: then what they
# return is not known, while their operands are still checked.
SWITCH = "".join(
    overload_text(
        "switch",
        ("index: _Scalar", f"branches: Sequence[Callable[[*_Ts], {one}]]", *_OPERANDS),
        one,
    )
    for one in ("A", "Any")
)

WHILE_LOOP = signature_text(
    "while_loop",
    (
        "cond_fun: Callable[[T], _Scalar]",
        "body_fun: Callable[[T], T]",
        "init_val: T",
        "*",
        *MODES,
    ),
    "T",
)

# The counter is an array, but many write ``i: int``.
FORI_LOOP = "".join(
    overload_text(
        "fori_loop",
        (
            "lower: _Scalar",
            "upper: _Scalar",
            f"body_fun: Callable[[{counter}, T], T]",
            "init_val: T",
            "*",
            "unroll: int | bool | None = None",
            *MODES,
        ),
        "T",
    )
    for counter in ("jax.Array", "int")
)

STUBS = (
    ModuleStub(
        "typed_nnx._transforms.conditionals",
        {"cond": COND, "switch": SWITCH},
        preamble=_BRANCHES,
        imports=_IMPORTS,
    ),
    ModuleStub(
        "typed_nnx._transforms.loops",
        {"while_loop": WHILE_LOOP, "fori_loop": FORI_LOOP},
        preamble=_SCALAR,
        imports=_IMPORTS,
    ),
)
