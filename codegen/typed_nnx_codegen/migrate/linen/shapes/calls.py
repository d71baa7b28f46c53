"""What calls of functions give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typed_nnx_codegen.migrate.linen.running.values import Unknown, Value
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, has_star
from typed_nnx_codegen.migrate.linen.shapes.tables import rule_of


def function_result(
    name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """Return what a call of a function of a library gives.

    Args:
        name: The public name with its module: ``jax.numpy.mean``, ``builtins.len``.
        args: The arguments by position.
        keywords: The arguments by name.

    Returns:
        The result, `Unknown` where nothing can be said of it; None where the function is not
        known.
    """
    rule = rule_of(name)
    if rule is not None and has_star(args):
        return Unknown("arguments with a star")
    return None if rule is None else rule(Arguments(tuple(args), dict(keywords)))
