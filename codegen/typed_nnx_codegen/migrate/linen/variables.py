"""Parameters and variables that methods declare, and what else modules of Linen offer methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.frames import Frame, VariableSite
from typed_nnx_codegen.migrate.linen.marker_codes import CALL, COUNTERPART, NAME, TRANSFORM
from typed_nnx_codegen.migrate.linen.merging import is_module
from typed_nnx_codegen.migrate.linen.passed import BoundArguments, Passed, bind_names
from typed_nnx_codegen.migrate.linen.references import (
    FunctionRef,
    ModuleValue,
    SelfValue,
    VariableValue,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import wanted_shape
from typed_nnx_codegen.migrate.linen.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Value,
)

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor

_TYPES: Final = {
    "params": "nnx.Param",
    "batch_stats": "nnx.BatchStat",
    "cache": "nnx.Cache",
    "intermediates": "nnx.Intermediate",
    "perturbations": "nnx.Perturbation",
}


class Variables:
    """Declares variables.

    Args:
        executor: What goes through the methods.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def call(
        self, instance: SelfValue, name: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a method of Linen's Module returns."""
        handler = self._handlers.get(name)
        if handler is None:
            if frame.records:
                frame.recorder.mark(node, f"`self.{name}` has no counterpart in NNX", COUNTERPART)
            return UNKNOWN
        return handler(self, instance, passed, node, frame)

    # -- parameters and variables -------------------------------------------------------------

    def _param(
        self, instance: SelfValue, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        bound = bind_names(["name", "init_fn"], passed)
        name, init = bound.by_name.get("name"), bound.by_name.get("init_fn")
        if name is None or init is None or not isinstance(name.value, Const):
            frame.recorder.mark(node, "a parameter whose name is computed", NAME)
            return UNKNOWN
        value = self._initial(init, bound, frame)
        if not frame.records:
            return value
        code = self._made(init, bound, f"{frame.recorder.rngs}.params()", node, frame)
        if code is None:
            return value
        self._declare("params", str(name.value.value), code, value, node, frame)
        del instance
        return value

    def _variable(
        self, instance: SelfValue, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        bound = bind_names(["col", "name", "init_fn"], passed)
        collection, name = bound.by_name.get("col"), bound.by_name.get("name")
        init = bound.by_name.get("init_fn")
        if (
            collection is None
            or name is None
            or init is None
            or not isinstance(name.value, Const)
            or not isinstance(collection.value, Const)
        ):
            frame.recorder.mark(node, "a variable whose name or collection is computed", NAME)
            return UNKNOWN
        value = self._initial(init, bound, frame, key=False)
        attribute = str(name.value.value)
        if not frame.records:
            return VariableValue(attribute, value)
        code = self._made(init, bound, "", node, frame)
        if code is None:
            return VariableValue(attribute, value)
        attribute = self._declare(
            str(collection.value.value), attribute, code, value, node, frame
        )
        del instance
        return VariableValue(attribute, value)

    def _initial(
        self, init: Passed, bound: BoundArguments, frame: Frame, *, key: bool = True
    ) -> Value:
        """Return what an initializer makes."""
        if isinstance(init.value, FunctionRef):
            inner = Frame(frame.recorder, frame.analysis, records=False)
            keys = [Passed(UNKNOWN, None, init.node)] if key else []
            return self._executor.functions.call_function(
                init.value, [*keys, *bound.extra], inner
            )
        if bound.extra:
            shape = wanted_shape(bound.extra[0].value)
            return Array(shape)
        return Array()

    def _made(
        self, init: Passed, bound: BoundArguments, key: str, node: cst.Call, frame: Frame
    ) -> str | None:
        """Return the code that makes the value in the constructor."""
        codes = [*([key] if key else []), *(self._code(one) for one in bound.extra)]
        codes += [
            None if self._code(one) is None else f"{name}={self._code(one)}"
            for name, one in bound.by_name.items()
            if name not in ("name", "init_fn", "col", "unbox")
        ]
        known = [code for code in codes if code is not None]
        function = init.code
        if isinstance(init.value, FunctionRef) and isinstance(init.value.node, cst.FunctionDef):
            function = init.value.code or None
        if function is None or len(known) != len(codes):
            frame.recorder.mark(
                node, "its first value depends on what the method is called with", CALL
            )
            return None
        if function.startswith("lambda"):
            function = f"({function})"
        return f"{function}({', '.join(known)})"

    def _code(self, one: Passed) -> str | None:
        """Return the code of an argument; that of the dtype of an input is what it mostly is."""
        match one.node:
            case cst.Attribute(attr=cst.Name(value="dtype")) if one.code is None:
                return self._executor.refer("jax.numpy.float32")
        return one.code

    def _declare(
        self,
        collection: str,
        name: str,
        code: str,
        value: Value,
        node: cst.Call,
        frame: Frame,
    ) -> str:
        recorder = frame.recorder
        if not recorder.is_recording:
            return name
        kind = _TYPES.get(collection)
        wrapper = (
            self._executor.refer(kind)
            if kind is not None
            else f"{self._executor.refer('nnx.variable_type_from_name')}"
            f"({collection!r}, allow_register=True)"
        )
        key = f"{collection}/{name}"
        attribute = recorder.attribute_for(name, frame.verbatim)
        if key in recorder.variables:
            attribute = recorder.variables[key].attribute
        site = VariableSite(
            node, collection, name, attribute, f"{wrapper}({code})", value, frame.verbatim
        )
        is_new = key not in recorder.variables
        recorder.variables[key] = site
        if is_new and not frame.verbatim:
            recorder.write(f"self.{attribute} = {site.code}")
        if recorder.loops:
            recorder.mark(node, "a variable that is declared in a loop")
        if any(getattr(one, "lift").stacks(frozenset({collection})) for one in recorder.stacks):
            recorder.mark(node, "a variable that is declared under a transform that stacks it")
        if not frame.verbatim:
            is_array = collection == "params"
            owner = recorder.owner or "self"
            code = f"{owner}.{attribute}"
            recorder.replace(node, f"{code}[...]" if is_array else code)
        else:
            recorder.replace(node, site.code)
        return attribute

    # -- the rest -----------------------------------------------------------------------------

    def _true(
        self, instance: SelfValue, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        del instance, passed
        if frame.records:
            frame.recorder.replace(node, "True")
        return UNKNOWN

    def _false(
        self, instance: SelfValue, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        del instance, passed
        if frame.records:
            frame.recorder.replace(node, "False")
        return UNKNOWN

    def _make_rng(
        self, instance: SelfValue, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        del instance
        name = passed[0].value if passed else Const("params")
        if not frame.records:
            return UNKNOWN
        if not isinstance(name, Const) or frame.verbatim:
            frame.recorder.mark(node, "a key of a stream whose name is computed, or in `setup`")
            return UNKNOWN
        frame.recorder.uses_rngs = True
        frame.recorder.replace(node, f"self.rngs.{name.value}()")
        return UNKNOWN

    def _sow(
        self, instance: SelfValue, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        del instance
        if frame.records and passed:
            collection = passed[0].value
            kind = _TYPES.get(str(collection.value)) if isinstance(collection, Const) else None
            if kind is None:
                frame.recorder.mark(node, "`sow` into a collection of the project")
            else:
                frame.recorder.replace(passed[0].node, self._executor.refer(kind))
        return UNKNOWN

    def _perturb(
        self, instance: SelfValue, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        del instance, node, frame
        return passed[1].value if len(passed) > 1 else UNKNOWN

    _handlers: Final[dict[str, Callable[..., Value]]] = {
        "param": _param,
        "variable": _variable,
        "make_rng": _make_rng,
        "sow": _sow,
        "perturb": _perturb,
        "is_initializing": _false,
        "has_variable": _true,
        "is_mutable_collection": _true,
        "has_rng": _true,
    }

    def merge_param(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what `nn.merge_param` returns: whichever of two settings is given."""
        if len(passed) == 3 and frame.records:
            one, other = (code_of(each.node) for each in passed[1:])
            frame.recorder.replace(node, f"({other} if {other} is not None else {one})")
        return UNKNOWN

    def share_scope(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Note that a submodule has the scope of the module."""
        match [one.value for one in passed]:
            case [SelfValue() as owner, ModuleValue(site=site)] if owner is frame.instance:
                if frame.records and frame.method is not None:
                    site.shares = True
                    frame.recorder.plan.dropped |= set(_statements_of(node, frame.method.node))
                return NONE
        frame.recorder.mark(node, "`nn.share_scope` with a module from outside is not migrated")
        return NONE

    def assign_attribute(
        self, owner: SelfValue, name: str, value: Value, target: cst.BaseExpression, frame: Frame
    ) -> None:
        """Note what an attribute of the object is assigned."""
        kept = value
        if not isinstance(value, (ModuleValue, Array, VariableValue)) and frame.records:
            code = self._executor.code.of_value(value, frame)
            if code is not None and len(code) > 20:
                kept = Code(f"self.{name}")
        before = owner.attributes.get(name)
        if before is not None and before != kept and (is_module(before) or is_module(kept)):
            # Another branch of `setup` assigned it.
            kept = self._executor.merging.joined(before, kept, frame)
        owner.attributes[name] = kept
        del target


def _statements_of(node: cst.Call, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    """Yield the statement that is nothing but a call."""
    for line in descendants(function):
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=value)]) if value is node:
                yield line
