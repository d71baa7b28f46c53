"""Constructor calls that run later, in a lambda that a transform calls."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted
from typed_nnx_codegen.migrate.file import File, with_commas
from typed_nnx_codegen.migrate.patterns.method_calls import is_quick

_RNGS = re.compile(r"(^|[_.])rngs?$")


@dataclass(frozen=True)
class Deferred:
    """A call in a lambda.

    Attributes:
        function: The lambda.
        given: The arguments that it is to be called with.
    """

    function: cst.Lambda
    given: tuple[cst.Arg, ...]


def deferred(file: File, original: cst.Call, made: cst.Call) -> Deferred | None:
    """Return a call in a lambda; None where it would mean something else there.

    Rngs and models from outside are parameters: under a transform they can only be used so.

    Args:
        file: The file.
        original: The call before, with the same arguments.
        made: The call.
    """
    if file.scope.kind == "class" or any(
        isinstance(node, (cst.Await, cst.NamedExpr, cst.Yield)) for node in descendants(original)
    ):
        return None
    names: dict[str, cst.BaseExpression] = {}
    args: list[cst.Arg] = []
    for before, after in zip(original.args, made.args, strict=True):
        if before.star or not _comes_from_outside(file, before):
            args.append(after)
            continue
        if not is_quick(before.value):
            return None
        name = _parameter(before)
        if name in names and dotted(names[name]) != dotted(after.value):
            return None
        names[name] = after.value
        args.append(after.with_changes(value=cst.Name(name)))
    parameters = cst.Parameters([cst.Param(cst.Name(name)) for name in names])
    space = cst.SimpleWhitespace(" " if names else "")
    function = cst.Lambda(parameters, made.with_changes(args=args), whitespace_after_lambda=space)
    return Deferred(function, tuple(with_commas([cst.Arg(value) for value in names.values()])))


def _comes_from_outside(file: File, arg: cst.Arg) -> bool:
    """Whether an argument is an Rngs or a model that the code around has."""
    if isinstance(arg.value, cst.Call) and file.name(arg.value.func) == "nnx.Rngs":
        return False
    if file.is_a(arg.value, "Pytree", "Rngs") is True:
        return True
    named = arg.keyword.value if arg.keyword is not None else dotted(arg.value)
    return bool(_RNGS.search(named)) and file.is_unknown(arg.value)


def _parameter(arg: cst.Arg) -> str:
    if arg.keyword is not None:
        return arg.keyword.value
    return dotted(arg.value).rpartition(".")[2]
