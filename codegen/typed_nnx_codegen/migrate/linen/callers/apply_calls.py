"""Where callers run modules with variables: `apply` and `bind`."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from typed_nnx_codegen.migrate.linen.callers.caller_helpers import APPLY_WITH, BOUND_TO
from typed_nnx_codegen.migrate.linen.callers.constructions import Use
from typed_nnx_codegen.migrate.linen.callers.direct_calls import DirectCalls
from typed_nnx_codegen.migrate.linen.callers.kinds import Deferred, Live, call_parts, method_name
from typed_nnx_codegen.migrate.linen.callers.models import Models
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering, joined, keyword_of
from typed_nnx_codegen.migrate.linen.callers.sizes import NoSizes, Sizes


class ApplyCalls:
    """Writes what runs modules.

    Args:
        code: Writes expressions.
        models: Writes models.
        direct: The calls that need no variables, by use.
    """

    def __init__(self, code: Rendering, models: Models, direct: Mapping[Use, DirectCalls]) -> None:
        self._code = code
        self._models = models
        self._direct = direct

    def apply(self, use: Use) -> None:
        """Write `model.apply`, called or handed to something."""
        if use.call is None:
            self._apply_function(use)
            return
        call = use.call
        if any(keyword_of(arg) == "capture_intermediates" for arg in call.args):
            raise NoSizes("`capture_intermediates` has no counterpart here")
        if use in self._direct:
            self._direct_call(use, call)
            return
        skip = 0 if any(keyword_of(arg) == "variables" for arg in call.args) else 1
        model = self._models.model(use, lambda: self._models.sizes(use, call, skip, is_kept=True))
        args = [self._applied_arg(arg, use) for arg in call.args]
        self._code.plan.code[call] = f"{self._code.helper(APPLY_WITH)}({joined([model, *args])})"

    def _direct_call(self, use: Use, call: cst.Call) -> None:
        """Write a call of the model with its own variables."""
        method, passed = call_parts(call, self._code.analysis, 1)
        self._code.done |= {arg.value for arg in call.args if keyword_of(arg) == "method"}
        model = self._code.render(use.node.value)
        function = model if method == "__call__" else f"{model}.{method}"
        self._code.plan.code[call] = (
            f"{function}({joined([self._code.arg(arg) for arg in passed])})"
        )

    def _applied_arg(self, arg: cst.Arg, use: Use) -> str:
        if keyword_of(arg) == "method" and isinstance(arg.value, cst.Attribute):
            below = self._code.constructions.uses.get(arg.value)
            if below is not None:
                self._code.done.add(arg.value)
                return f'method="{method_name(arg.value)}"'
        return self._code.arg(arg)

    def _apply_function(self, use: Use) -> None:
        """Write `model.apply` where it is handed to something."""
        kind = self._code.kinds.of_use(use)
        helper = self._code.helper(APPLY_WITH)
        is_known = isinstance(kind, Live) or (
            isinstance(kind, Deferred) and kind.preset is not None
        )
        if is_known or not self._models.takes_sizes(use):
            model = self._models.model(use, lambda: Sizes(()))
            self._code.plan.code[use.node] = (
                f"{self._code.refer('functools.partial')}({helper}, {model})"
            )
            return
        model = self._models.model(use, lambda: self._models.sizes_of_names(use))
        header = self._models.header(use.classes[0])
        passed: list[str] = []
        is_keyword_only = False
        for one in header:
            name = one.partition("=")[0]
            if name == "*":
                is_keyword_only = True
            else:
                passed.append(f"{name}={name}" if is_keyword_only else name)
        head = joined(["variables", *header, "**options"])
        body = f"{helper}({joined([model, 'variables', *passed, '**options'])})"
        self._code.plan.code[use.node] = f"(lambda {head}: {body})"

    def bind(self, use: Use) -> None:
        """Write `model.bind`."""
        if use.call is None:
            raise NoSizes("`bind` is handed on")

        def sizes() -> Sizes:
            if self._models.takes_sizes(use):
                raise NoSizes("the sizes of its inputs are not known where variables are bound")
            return Sizes(())

        args = [self._code.arg(arg) for arg in use.call.args]
        text = joined([self._models.model(use, sizes), *args])
        self._code.plan.code[use.call] = f"{self._code.helper(BOUND_TO)}({text})"
