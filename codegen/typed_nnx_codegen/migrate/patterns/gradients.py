"""What the gradients of a program are taken of: ``grads = nnx.grad(loss)(model, x)``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted, read_names
from typed_nnx_codegen.migrate.analysis.values import ProjectFunction, Scope, Wrapped
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.bindings import Binding, Bindings
from typed_nnx_codegen.migrate.patterns.transform_calls import PARTIAL, keyword_of

_GRAD: Final = "nnx.grad"
_VALUE_AND_GRAD: Final = "nnx.value_and_grad"


class Gradients:
    """Finds what gradients are taken of.

    Args:
        file: The file.
        bindings: Its bindings.
    """

    def __init__(self, file: File, bindings: Bindings) -> None:
        self._file = file
        self._bindings = bindings

    def model_of(self, grads: cst.BaseExpression, scope: Scope) -> tuple[str, int] | None:
        """Return the dotted name of the Module that gradients are taken of, and where that is.

        Args:
            grads: The expression of the gradients.
            scope: Its scope.
        """
        if isinstance(grads, cst.Call):
            found = self._differentiated(grads, (), has_value=False)
            return (found, self._bindings.order[grads]) if found else None
        name = dotted(grads)
        if not name:
            return None
        models: dict[str, int] = {}
        for binding in self._bindings.of(scope, name):
            model = self._bound_to(binding)
            if model:
                models[model] = binding.order
            elif not _is_of_itself(binding, name):
                return None
        return next(iter(models.items())) if len(models) == 1 else None

    def _bound_to(self, binding: Binding) -> str:
        value = binding.value
        if not isinstance(value, cst.Call):
            return ""
        return self._differentiated(value, binding.path, has_value=True)

    def _differentiated(self, call: cst.Call, path: tuple[int, ...], *, has_value: bool) -> str:
        """Return the name of the first argument of a function that gives gradients of it."""
        transform = self._transform(call.func)
        if transform is None or not call.args or call.args[0].star:
            return ""
        name, options = transform
        if not _takes_first(options):
            return ""
        has_aux = options is not None and keyword_of(options, "has_aux") is not None
        expected: set[tuple[int, ...]] = {(1,)}
        if name == _GRAD:
            expected = {(0,)} if has_aux else {()}
        if path not in expected and (has_value or path):
            return ""
        first = call.args[0]
        return dotted(first.value) if first.keyword is None else ""

    def _transform(self, function: cst.BaseExpression) -> tuple[str, cst.Call | None] | None:
        """Return which transform a function is under, and the call that says how."""
        if isinstance(function, cst.Call):
            return self._transform_call(function)
        value = self._file.value(function)
        if not isinstance(value, Wrapped) or value.by not in {_GRAD, _VALUE_AND_GRAD}:
            return None
        if isinstance(value.function, ProjectFunction):
            decorated = self._decorator(value.function.node)
            if decorated is not None:
                return decorated
        scope = self._bindings.scopes.get(function)
        name = dotted(function)
        owner = scope.owner_of(name) if scope is not None else None
        found = self._bindings.of(owner, name) if owner is not None else []
        if len(found) == 1 and isinstance(found[0].value, cst.Call):
            return self._transform_call(found[0].value)
        return None

    def _transform_call(self, call: cst.Call) -> tuple[str, cst.Call | None] | None:
        name = self._file.name(call.func)
        if name == PARTIAL and call.args:
            name = self._file.name(call.args[0].value)
        elif name == "nnx.jit" and call.args:
            return self._transform(call.args[0].value)
        return (name, call) if name in {_GRAD, _VALUE_AND_GRAD} else None

    def _decorator(self, node: cst.CSTNode) -> tuple[str, cst.Call | None] | None:
        if not isinstance(node, cst.FunctionDef):
            return None
        for one in node.decorators:
            name = self._file.name(one.decorator)
            if name in {_GRAD, _VALUE_AND_GRAD}:
                return name, None
            if isinstance(one.decorator, cst.Call):
                found = self._transform_call(one.decorator)
                if found is not None:
                    return found
        return None


def _takes_first(options: cst.Call | None) -> bool:
    """Whether a transform differentiates the first argument, and that alone."""
    if options is None:
        return True
    if any(arg.star for arg in options.args):
        return False
    argnums = keyword_of(options, "argnums")
    if argnums is None:
        return True
    match argnums.value:
        case cst.Integer(value="0"):
            return True
        case cst.Call(args=[cst.Arg(value=cst.Integer(value="0")), *_]):
            return True  # nnx.DiffState(0, F)
        case _:
            return False


def _is_of_itself(binding: Binding, name: str) -> bool:
    """Whether a binding makes something from what the name stood for: clipped gradients."""
    return binding.value is not None and name.split(".")[0] in read_names(binding.value)
