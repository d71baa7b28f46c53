"""The plugin class: a dispatch table from mypy's hooks to one file per concern."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeAlias

from mypy.options import Options
from mypy.plugin import (
    AttributeContext,
    ClassDefContext,
    FunctionContext,
    MethodContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import Type

import typed_nnx_mypy.checks as checks  # registers
import typed_nnx_mypy.inference as inference  # registers
from typed_nnx_mypy import registry
from typed_nnx_mypy.assignments import HOOKED, attribute_check, insert_checks
from typed_nnx_mypy.call import Call, StateAccess
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.config import find_pyproject, read_config
from typed_nnx_mypy.names import Name, name_of, runtime_of

_ = checks, inference
_INDEXING = ("State.__getitem__", "FlatState.__getitem__")
_Hook: TypeAlias = Callable[[FunctionContext | MethodContext], Type]


def _own_version() -> str:
    """Return the version of the installed distribution, or a mark for a bare source tree."""
    try:
        return version("typed-nnx")
    except PackageNotFoundError:
        return "source"


class TypedNnxPlugin(Plugin):
    """Precise types and checks for typed-nnx and flax.nnx.

    Args:
        options: The options of the mypy run.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._config = read_config(find_pyproject(options.config_file, Path.cwd()))
        self._hooks: dict[str, _Hook | None] = {}

    def report_config_data(self, ctx: ReportConfigContext) -> dict[str, object]:
        """Name what results depend on, so that mypy drops those of another version or setting."""
        return {"typed_nnx_mypy": _own_version(), **self._config.as_data()}

    # -- calls --------------------------------------------------------------------------------

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Claim the calls of functions and classes that a check or an inference looks at."""
        return self._hook(fullname)

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Claim method calls, indexing of States and our checks of attributes."""
        return self._hook(fullname)

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """Claim the attributes of States."""
        if ".State." not in fullname:
            return None
        owner = self._name(fullname.rpartition(".")[0])
        return partial(self._on_access, owner.runtime) if owner is not None else None

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Claim the classes that are derived from a Pytree."""
        # Direct bases only: a class of a user's own base is reached through `_is_pytree`.
        return self._on_class

    # -- what is claimed ----------------------------------------------------------------------

    def _hook(self, fullname: str) -> _Hook | None:
        if fullname not in self._hooks:
            self._hooks[fullname] = self._find_hook(fullname)
        return self._hooks[fullname]

    def _find_hook(self, fullname: str) -> _Hook | None:
        if fullname == HOOKED:
            return self._on_assignment
        name = self._name(fullname)
        if name is None:
            return None
        if name.public in _INDEXING:
            return partial(self._on_access, name.runtime)
        return partial(self._on_call, name) if registry.is_known(name.public) else None

    def _name(self, fullname: str) -> Name | None:
        name = name_of(fullname)
        # jax itself is used with every runtime.
        is_chosen = name is not None and name.runtime in ("jax", *self._config.runtimes)
        return name if is_chosen else None

    # -- the hooks ----------------------------------------------------------------------------

    def _on_call(self, name: Name, context: FunctionContext | MethodContext) -> Type:
        checker = Checker(context.api, self._config)
        if checker.is_of_runtime():
            return context.default_return_type
        call = Call(name, context, checker)
        for infer in registry.CALL_INFERENCES.get(name.public, ()):
            found = infer(call)
            if found is not None:
                call.result = found
        for check in registry.CALL_CHECKS.get(name.public, ()):
            check(call)
        return call.result

    def _on_access(
        self, runtime: str, context: AttributeContext | FunctionContext | MethodContext
    ) -> Type:
        assert not isinstance(context, FunctionContext)
        checker = Checker(context.api, self._config)
        access = StateAccess(runtime, context, checker)
        if not checker.is_of_runtime():
            for infer in registry.ACCESS_INFERENCES:
                found = infer(access)
                if found is not None:
                    access.result = found
        return access.result

    def _on_assignment(self, context: FunctionContext | MethodContext) -> Type:
        if isinstance(context, MethodContext):
            found = attribute_check(context, Checker(context.api, self._config))
            if found is not None and found.runtime in self._config.runtimes:
                for check in registry.ATTRIBUTE_CHECKS:
                    check(found)
        return context.default_return_type

    def _on_class(self, context: ClassDefContext) -> None:
        bases = context.cls.info.mro[1:]
        if any(base.name == "Pytree" and runtime_of(base.fullname) for base in bases):
            insert_checks(context)
