"""Which States a function does not own: their Variables are in use outside of it.

`nnx.merge` puts the very Variables of the States into the model. Where a transform of jax runs the
function, Variables from outside cannot change in it; `copy=True` makes new ones, as older versions
always did.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted, parameters_of
from typed_nnx_codegen.migrate.analysis.values import ProjectFunction, Scope, Wrapped
from typed_nnx_codegen.migrate.file import File

# What they do not differentiate goes into the function as it is.
_GRADIENTS: Final = frozenset({"jax.grad", "jax.value_and_grad"})


class SharedVariables:
    """Knows which expressions of a file are States from outside of the function they are in.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._differentiated: frozenset[ProjectFunction] | None = None

    def has(self, node: cst.BaseExpression) -> bool:
        """Whether an expression at the place that is being rewritten is from outside."""
        root = dotted(node).partition(".")[0]
        scope = _function_scope(self._file.scope)
        if not root or scope is None or scope.function is None:
            return False
        if scope.owner_of(root) is not scope:
            return True
        names = [each.name.value for each in parameters_of(scope.function.node.params)]
        if root not in names[1:] or "." in dotted(node):
            return False
        return self._is_differentiated(scope.function)

    def _is_differentiated(self, function: ProjectFunction) -> bool:
        if self._differentiated is None:
            wrapped = [
                value.function
                for value in self._file.analysis.values.values()
                if isinstance(value, Wrapped) and value.by in _GRADIENTS
            ]
            self._differentiated = frozenset(
                each for each in wrapped if isinstance(each, ProjectFunction)
            )
        decorated = not _GRADIENTS.isdisjoint(function.decorators)
        return decorated or function in self._differentiated


def _function_scope(scope: Scope | None) -> Scope | None:
    while scope is not None and scope.kind != "function":
        scope = scope.parent
    return scope
