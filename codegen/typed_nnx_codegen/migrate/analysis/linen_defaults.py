"""Parameters whose default is a class of Linen modules: what callers outside give is alike."""

from __future__ import annotations

from typed_nnx_codegen.migrate.analysis.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    External,
    ProjectClass,
    Value,
    Wrapped,
    join,
    options_of,
)


def linen_default(passed: Value, default: Value) -> Value:
    """Return what a parameter with such a default is taken for, whoever else may call.

    Args:
        passed: What callers in the project give.
        default: Its default.
    """
    given = [one for one in options_of(passed) if one not in (UNKNOWN, NOTHING, NONE)]
    return join(default, *(one for one in given if makes_linen(one)))


def makes_linen(value: Value | str) -> bool:
    """Whether a value is a class of Linen modules of the project, or a partial of one."""
    while isinstance(value, Wrapped) and value.by == "functools.partial":
        value = value.function
    return isinstance(value, ProjectClass) and any(_is_linen(base) for base in value.bases)


def _is_linen(base: Value) -> bool:
    if isinstance(base, ProjectClass):
        return any(_is_linen(above) for above in base.bases)
    return isinstance(base, External) and base.name in (
        "flax.linen.Module",
        "flax.linen.module.Module",
    )
