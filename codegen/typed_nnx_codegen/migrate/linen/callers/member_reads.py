"""Where callers read other attributes of modules: fields, methods that need no object."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.linen.callers.caller_helpers import FIELD_OF
from typed_nnx_codegen.migrate.linen.callers.constructions import Use
from typed_nnx_codegen.migrate.linen.callers.kinds import Live
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering
from typed_nnx_codegen.migrate.linen.callers.sizes import NoSizes

# Attributes of a Linen module that a model of NNX does not have, or that do something else there.
_LINEN_ONLY = frozenset(
    {
        *("clone", "copy", "replace", "unbind", "variables", "scope", "parent", "name", "path"),
        *("lazy_init", "module_paths", "make_rng", "is_initializing", "has_rng", "param", "sow"),
        *("variable", "get_variable", "put_variable", "has_variable", "perturb"),
    }
)


class MemberReads:
    """Writes reads of attributes.

    Args:
        code: Writes expressions.
    """

    def __init__(self, code: Rendering) -> None:
        self._code = code

    def member(self, use: Use) -> None:
        """See that an attribute is still there: a field, a method that needs no object."""
        if use.name in _LINEN_ONLY and not any(
            one.name == use.name for cls in use.classes for one in cls.fields()
        ):
            raise NoSizes(f"`{use.name}` of a module has no counterpart here")
        if isinstance(self._code.kinds.of_use(use), Live):
            return
        methods = [cls.method(use.name) for cls in use.classes]
        if len(use.classes) == 1 and methods[0] is not None and not methods[0].is_bound:
            owner = self._constructions_class_code(use)
            if owner:
                self._code.plan.code[use.node] = f"{owner}.{use.name}"
                return
        if not any(cls.method(use.name) for cls in use.classes):
            receiver = self._code.render(use.node.value)
            self._code.plan.code[use.node] = (
                f'{self._code.helper(FIELD_OF)}({receiver}, "{use.name}")'
            )
            return
        raise NoSizes(f"`{use.name}` is read of what is not constructed yet")

    def _constructions_class_code(self, use: Use) -> str:
        """Return how the file spells the class of a use; empty where it does not."""
        scope = self._code.analysis.scope
        for one in use.constructions:
            if one.analysis is self._code.analysis and isinstance(one.node.func, cst.Name):
                name = one.node.func.value
                if name in scope.seen:
                    return name
        return ""
