"""Calls of functions that are written as text: a lambda is applied to its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.writing.parentheses import wrapped
from typed_nnx_codegen.migrate.linen.writing.replacing import KeepingNames

_SCOPES = (cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp, cst.NamedExpr)


def applied(function: str, args: Sequence[str], named: Mapping[str, str]) -> str:
    """Return the code of a call; the body of a lambda where its parameters are used once.

    Args:
        function: The code of the function.
        args: The positional arguments.
        named: The keyword arguments.
    """
    node = cst.parse_expression(function)
    if isinstance(node, cst.Lambda):
        body = _body(node, args, named)
        if body is not None:
            return body
    simple = isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    text = function if simple or getattr(node, "lpar", None) else f"({function})"
    words = [f"{name}={code}" for name, code in named.items()]
    return f"{text}({', '.join([*args, *words])})"


def _body(node: cst.Lambda, args: Sequence[str], named: Mapping[str, str]) -> str | None:
    """Return the body of a lambda with its arguments in place; None where that is not plain."""
    params = node.params
    every = [one.name.value for one in (*params.posonly_params, *params.params)]
    if params.kwonly_params or isinstance(params.star_arg, cst.Param) or params.star_kwarg:
        return None
    if len(args) > len(every):
        return None
    given = {**dict(zip(every, args, strict=False)), **named}
    if set(given) != set(every):
        return None
    below = list(descendants(node.body))
    if any(isinstance(one, _SCOPES) for one in below):
        return None
    names = [one.value for one in below if isinstance(one, cst.Name)]
    if any(names.count(name) > 1 for name in every):
        return None
    after = node.body.visit(_Placing(given))
    assert isinstance(after, cst.BaseExpression)
    return code_of(after).strip()


class _Placing(KeepingNames):
    """Writes arguments for parameters."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__()
        self._given = given

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Write the argument for a parameter."""
        code = self._given.get(original_node.value)
        return updated_node if code is None else wrapped(cst.parse_expression(code))
