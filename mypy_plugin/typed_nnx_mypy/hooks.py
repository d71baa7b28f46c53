"""What the plugin does when mypy calls one of its hooks.

This module imports every check, which takes longer than a whole run of mypy in which nothing has
changed. So `plugin_class` imports it when mypy asks for the first hook.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from mypy.nodes import FuncDef, TypeInfo
from mypy.plugin import (
    AttributeContext,
    CheckerPluginInterface,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
)
from mypy.types import FunctionLike, Type

import typed_nnx_mypy.checks as checks  # registers
import typed_nnx_mypy.inference as inference  # registers
from typed_nnx_codegen.facts.children import forget
from typed_nnx_codegen.facts.internals import ErrorInfo, note_in_analysis, read_errors
from typed_nnx_codegen.facts.kinds import is_variable, runtime_of_class
from typed_nnx_codegen.facts.marks import QUIET, begins_static, opening_of
from typed_nnx_codegen.facts.names import OWN_VARIABLE, PARTIALS, Name, name_of, runtime_of
from typed_nnx_codegen.facts.probes import BEHIND, HOOKED, insert_checks
from typed_nnx_codegen.facts.recording import record_marks
from typed_nnx_mypy import registry
from typed_nnx_mypy.assignments import Probe, attribute_checks, checks_at_end, probe_of, store_check
from typed_nnx_mypy.call import Call, ClassCheck, MypyError, StateAccess
from typed_nnx_mypy.checks.deprecated import INHERITED, is_older_attribute, report_attribute
from typed_nnx_mypy.config import Config
from typed_nnx_mypy.errorcodes import NNX
from typed_nnx_mypy.inference.dataclasses import (
    field_signature,
    is_dataclass_maker,
    is_specifier,
    make_dataclass,
)
from typed_nnx_mypy.inference.methods import is_static_transform, static_transform
from typed_nnx_mypy.inference.partials import after_mypy
from typed_nnx_mypy.reporter import Reporter

_ = checks, inference
# What is called where an error of mypy may be read: functions and methods of the runtimes and of jax.
_READ = ("flax.", "jax", "typed_nnx")
_INDEXING = tuple(
    f"{each}.__getitem__" for each in ("State", "FlatState", "Dict", "List", "Sequential")
)
CallHook: TypeAlias = Callable[[FunctionContext | MethodContext], Type]
AttributeHook: TypeAlias = Callable[[AttributeContext], Type]
Place = TypeVar("Place", bound=ClassCheck)


class Hooks:
    """The hooks for one run of mypy."""

    def __init__(self, config: Config) -> None:
        forget()
        self._config = config
        self._calls: dict[str, CallHook | None] = {}
        self._of_methods: dict[str, CallHook | None] = {}
        self._attributes: dict[str, AttributeHook | None] = {}
        known = {name.rpartition(".")[2] for name in registry.methods()}
        self._methods = frozenset({*known, *INHERITED, "__getitem__"})

    # -- what is claimed ----------------------------------------------------------------------

    def of_call(
        self, fullname: str, find_class: Callable[[str], TypeInfo | None] | None = None
    ) -> CallHook | None:
        """Return the hook for calls of a function, a class or a method."""
        if fullname not in self._calls:
            info = find_class(fullname) if find_class is not None else None
            self._calls[fullname] = self._find(fullname, info)
        return self._calls[fullname]

    def _find(self, fullname: str, info: TypeInfo | None) -> CallHook | None:
        if fullname == HOOKED:
            return self._on_assignment
        if fullname in PARTIALS:
            return after_mypy(partial(self._on_call, Name(fullname, "python")))
        name = self._name(fullname)
        if name is None and info is not None and is_variable(info):
            name = Name(OWN_VARIABLE, runtime_of_class(info))
        if name is None:
            return None
        if name.public in _INDEXING:
            return self._on_access
        return partial(self._on_call, name) if registry.is_known(name.public) else None

    def of_method(
        self, fullname: str, find_class: Callable[[str], TypeInfo | None]
    ) -> CallHook | None:
        """Return the hook for a method; mypy names the class of the object, not the one it is of."""
        if fullname not in self._of_methods:
            owner, _, method = fullname.rpartition(".")
            found = self.of_call(fullname)
            self._of_methods[fullname] = found or self._inherited(owner, method, find_class)
        return self._of_methods[fullname]

    def _inherited(
        self, owner: str, method: str, find_class: Callable[[str], TypeInfo | None]
    ) -> CallHook | None:
        info = find_class(owner) if method in self._methods else None
        base = info.get_containing_type_info(method) if info is not None else None
        if base is None or base is info:
            return None
        return self.of_call(f"{base.fullname}.{method}")

    def of_attribute(
        self, fullname: str, find_class: Callable[[str], TypeInfo | None]
    ) -> AttributeHook | None:
        """Return the hook for an attribute: of a State, of a Variable, or static in a Pytree."""
        if fullname not in self._attributes:
            self._attributes[fullname] = self._find_attribute(fullname, find_class)
        return self._attributes[fullname]

    def _find_attribute(
        self, fullname: str, find_class: Callable[[str], TypeInfo | None]
    ) -> AttributeHook | None:
        owner, _, name = fullname.rpartition(".")
        if any(e in f"{fullname}." for e in (".State.", ".MultiMetric.", ".Sequential.layers.")):
            known = self._name(owner)
            return self._on_access if known is not None else None
        if is_older_attribute(fullname):
            known = self._name(fullname)
            return partial(self._on_older, known.public) if known is not None else None
        info = find_class(owner)
        if owner.endswith((".Variable", ".Dict")) and info is not None and info.get(name) is None:
            return self._on_access if self._name(owner) is not None else None
        if info is not None and is_static_transform(info, name):
            return static_transform
        return self._on_store if info is not None and begins_static(info, name) else None

    def of_signature(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """Return the hook for the signature of a field specifier of dataclasses."""
        if not fullname.startswith(_READ):
            return None
        read_errors(registry.ERROR_CHECKS, self._on_error)
        return field_signature if is_specifier(fullname) and self._name(fullname) else None

    def of_class_decorator(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        """Return the hook for `dataclasses.dataclass`, which takes the specifiers of NNX too."""
        return make_dataclass if is_dataclass_maker(fullname) else None

    def _name(self, fullname: str) -> Name | None:
        name = name_of(fullname)
        # jax itself is used with every runtime.
        is_chosen = name is not None and name.runtime in ("jax", *self._config.runtimes)
        return name if is_chosen else None

    # -- the hooks ----------------------------------------------------------------------------

    def _on_call(self, name: Name, context: FunctionContext | MethodContext) -> Type:
        checker = Reporter(context.api, self._config)
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

    def _on_access(self, context: AttributeContext | FunctionContext | MethodContext) -> Type:
        assert not isinstance(context, FunctionContext)
        checker = Reporter(context.api, self._config)
        access = StateAccess(context, checker)
        if not checker.is_of_runtime():
            for infer in registry.ACCESS_INFERENCES:
                found = infer(access)
                if found is not None:
                    access.result = found
        return access.result

    def _on_assignment(self, context: FunctionContext | MethodContext) -> Type:
        checker = Reporter(context.api, self._config)
        match probe_of(context.context, checker):
            case Probe(place=place) as probe if place == BEHIND:
                for found in attribute_checks(probe, checker):
                    self._run(registry.ATTRIBUTE_CHECKS, found)
            case Probe(around=FuncDef() as function):
                for found in checks_at_end(function, checker):
                    self._run(registry.END_CHECKS, found)
            case Probe(around=TypeInfo() as owner):
                self._run(registry.CLASS_CHECKS, ClassCheck(checker, owner))
            case _:
                pass
        return context.default_return_type

    def _run(self, checks: Sequence[Callable[[Place], None]], found: Place) -> None:
        if found.runtime in self._config.runtimes:
            for check in checks:
                check(found)

    def _on_error(self, api: CheckerPluginInterface, info: ErrorInfo) -> bool:
        error = MypyError(Reporter(api, self._config), info)
        return any(check(error) for check in registry.ERROR_CHECKS[info.code])

    def _on_older(self, public: str, context: AttributeContext) -> Type:
        report_attribute(context, public, Reporter(context.api, self._config))
        return context.default_attr_type

    def _on_store(self, context: AttributeContext) -> Type:
        found = store_check(context, Reporter(context.api, self._config))
        if found is not None:
            self._run(registry.STORE_CHECKS, found)
        return context.default_attr_type

    def on_class(self, context: ClassDefContext) -> None:
        """Make the attributes of a class visible to the plugin if it is a Pytree."""
        self._of_methods.clear()  # the class may be one that was known in another form
        bases = context.cls.info.mro[1:]
        if any(base.name == "Pytree" and runtime_of(base.fullname) for base in bases):
            self._attributes.clear()
            opening, info = record_marks(context) or context.cls, context.cls.info
            insert_checks(context)
            is_asked = self._config.report_open and not runtime_of(info.module_name)
            if is_asked and (reason := opening_of(info)):
                said = f"{info.name} is open, by {reason}: {QUIET} do not report what it lacks"
                note_in_analysis(context.api, said, opening, NNX)
