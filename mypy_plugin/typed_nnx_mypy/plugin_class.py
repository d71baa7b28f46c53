"""The plugin class, which mypy makes in every run: it hands each hook on to `hooks`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from mypy.errors import CompileError
from mypy.nodes import TypeInfo
from mypy.options import Options
from mypy.plugin import (
    AttributeContext,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import FunctionLike, Type

from typed_nnx_codegen.facts.caching import FACTS, digest_of, may_have_models
from typed_nnx_mypy.config import ConfigError, find_pyproject, read_config

if TYPE_CHECKING:
    from typed_nnx_mypy.hooks import Hooks


class TypedNnxPlugin(Plugin):
    """Precise types and checks for typed-nnx and flax.nnx.

    Args:
        options: The options of the mypy run.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        try:
            self._config = read_config(find_pyproject(options.config_file, Path.cwd()))
        except ConfigError as error:
            # The error that mypy shows without a traceback, and that a daemon survives.
            raise CompileError([str(error)]) from error
        # Made once and short: mypy asks for it for each module, and writes it down for each.
        settings = json.dumps(asdict(self._config), sort_keys=True)
        self._state = hashlib.sha1(
            f"{digest_of(FACTS, Path(__file__).parent)} {settings}".encode(), usedforsecurity=False
        ).hexdigest()

    @cached_property
    def _hooks(self) -> Hooks:
        hooks: type[Hooks] = import_module("typed_nnx_mypy.hooks").Hooks
        return hooks(self._config)

    def report_config_data(self, ctx: ReportConfigContext) -> str | None:
        """Name what results depend on, so that mypy drops those of another plugin or setting."""
        return self._state if may_have_models(ctx) else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Claim the calls of functions and classes that a check or an inference looks at."""
        return self._hooks.of_call(fullname, self._class)

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Claim method calls, indexing of States and our checks of attributes."""
        return self._hooks.of_method(fullname, self._class)

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """Claim the attributes of States, older ones of Variables, and those that are static."""
        return self._hooks.of_attribute(fullname, self._class)

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """Claim the signatures of the field specifiers of dataclasses."""
        return self._hooks.of_signature(fullname)

    def get_method_signature_hook(self, fullname: str) -> None:
        """Claim none: mypy asks before each call of a method, so that its errors can be read."""
        self._hooks.of_signature(fullname)

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Claim every class with a base: which of them are Pytrees is known by their MRO."""
        return self._hooks.on_class

    def get_class_decorator_hook_2(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        """Claim `dataclasses.dataclass`, which takes the field specifiers of NNX too."""
        return self._hooks.of_class_decorator(fullname)

    def _class(self, fullname: str) -> TypeInfo | None:
        symbol = self.lookup_fully_qualified(fullname)
        return symbol.node if symbol is not None and isinstance(symbol.node, TypeInfo) else None
