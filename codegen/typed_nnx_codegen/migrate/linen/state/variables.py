"""Parameters and variables that methods declare, and what else modules of Linen offer methods."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import STAND_IN, Assignment, Edit, Entry
from typed_nnx_codegen.migrate.linen.domain.frames import Evaluate, Frame, StateAccess
from typed_nnx_codegen.migrate.linen.domain.markers import CALL, COUNTERPART, NAME
from typed_nnx_codegen.migrate.linen.domain.references import (
    ModuleValue,
    Partial,
    Repeated,
    SelfValue,
    VariableValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Size,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import (
    assigned_if,
    is_submodule,
    takes_place,
)
from typed_nnx_codegen.migrate.linen.evaluate.merging import Merging, holds_callables, is_module
from typed_nnx_codegen.migrate.linen.evaluate.recurrence import Normalizing
from typed_nnx_codegen.migrate.linen.shapes.operands import BoundArguments, Passed, bind_names
from typed_nnx_codegen.migrate.linen.state.calls_on_modules import (
    LaterVariables,
    StateCalls,
    asks_for,
)
from typed_nnx_codegen.migrate.linen.state.declaring import Declaring, FirstValues
from typed_nnx_codegen.migrate.linen.state.reads import Drawn, declare_drawn
from typed_nnx_codegen.migrate.linen.transforms.stacked_submodules import settle_branches
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode


class Variables:
    """Declares variables.

    Args:
        code: Writes expressions for the constructor.
        merging: Joins values.
        evaluate: Goes through an expression.
        refer: Gives the code for a public name.
        declaring: Declares variables.
        first_values: Finds their first values.
    """

    def __init__(
        self,
        code: ConstructorCode,
        merging: Merging,
        evaluate: Evaluate,
        refer: Callable[[str], str],
        declaring: Declaring,
        first_values: FirstValues,
    ) -> None:
        self._code = code
        self._merging = merging
        self._evaluate = evaluate
        self._refer = refer
        self._declaring = declaring
        self._first_values = first_values
        self._later = LaterVariables(refer, declaring)
        self.normalizing = Normalizing(code, declaring)
        state = StateCalls(code, refer, declaring, first_values)
        self._handlers: Final[dict[str, Callable[..., Value]]] = {
            "param": self._param,
            "variable": self._variable,
            "make_rng": state.make_rng,
            "has_rng": state.has_rng,
            "sow": state.sow,
            "perturb": state.perturb,
            "is_initializing": state.is_initializing,
            "is_mutable_collection": state.is_mutable,
            "has_variable": self._has,
            "get_variable": self._get,
            "put_variable": self._put,
        }

    def call(
        self, instance: SelfValue, name: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a method of Linen's Module returns."""
        del instance
        handler = self._handlers.get(name)
        if handler is None:
            frame.mark(node, f"`self.{name}` has no counterpart in NNX", COUNTERPART)
            return UNKNOWN
        return handler(passed, node, frame)

    # -- declarations -------------------------------------------------------------------------

    def _param(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        bound = bind_names(["name", "init_fn"], passed)
        name, init = bound.by_name.get("name"), bound.by_name.get("init_fn")
        if name is None or init is None or bound.is_open:
            return self._unclear(node, frame)
        value = self._first_values.value(init, bound, frame, has_key=True)
        if isinstance(value, Drawn) and isinstance(name.value, Const) and frame.records:
            declare_drawn(value, str(name.value.value), node, frame.recorder)
            return Array()
        key = f"{frame.recorder.rngs}.params()"
        self._declared("params", name, bound, key, value, node, frame)
        return value

    def param_with_axes(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what the older form of partitioning does: a parameter with names of its axes."""
        axes = next((one for one in passed if one.keyword == "axes"), None)
        plain = [one for one in passed if one.keyword not in ("axes", "module")]
        bound = bind_names(["name", "init_fn"], plain).by_name
        name, init = bound.get("name"), bound.get("init_fn")
        named = name is not None and isinstance(name.value, Const) and init is not None
        if not named or axes is None or any(one.keyword == "module" for one in passed):
            return self._unclear(node, frame)
        assert name is not None
        assert init is not None
        if axes.code is not None and init.code is not None:
            function = self._refer("nnx.with_partitioning")
            code = f"{function}({init.code}, {axes.code}, eager_sharding=False)"
            named_axes = replace(init, value=UNKNOWN, code=code)
            plain = [named_axes if one is init else one for one in plain]
        if frame.records and isinstance(name.value, Const):
            # The names of the axes are in the parameter itself now.
            dropped = Entry(f"params_axes/{name.value.value}_axes", None)
            frame.recorder.plan.others.append(dropped)
        return self._param(plain, node, frame)

    def _variable(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        bound = bind_names(["col", "name", "init_fn"], passed)
        collection, name = bound.by_name.get("col"), bound.by_name.get("name")
        if collection is None or name is None or bound.is_open:
            return self._unclear(node, frame)
        if not isinstance(collection.value, Const):
            return self._unclear(node, frame)
        init = bound.by_name.get("init_fn")
        if init is None or init.value == NONE:
            self._note("variable", passed, node, frame)
            return VariableValue("", UNKNOWN)
        value = self._first_values.value(init, bound, frame, has_key=False)
        where = str(collection.value.value)
        attribute = self._declared(where, name, bound, "", value, node, frame)
        return VariableValue(attribute, value)

    @staticmethod
    def _unclear(node: cst.Call, frame: Frame) -> Value:
        frame.mark(node, "a variable whose name or collection is computed", NAME)
        return UNKNOWN

    def _declared(
        self,
        collection: str,
        name: Passed,
        bound: BoundArguments,
        key: str,
        value: Value,
        node: cst.Call,
        frame: Frame,
    ) -> str:
        """Declare a variable of the module that is planned; return its attribute."""
        if not frame.records:
            return ""
        spelled = self._declaring.name_of(name, frame)
        if spelled is None:
            frame.recorder.mark(node, "the name of this variable depends on the call", NAME)
            return ""
        made = self._first_values.made(bound.by_name["init_fn"], bound, key, value, frame)
        conditions = frame.recorder.conditions
        is_asked = any(one.is_of_call for one in conditions) and asks_for(
            collection, frame.recorder
        )
        if made is None or made.is_stand_in or is_asked:
            attribute = self._later.declare(collection, spelled, value, node, frame)
            if attribute:
                return attribute
        if made is None:
            frame.recorder.mark(
                node, "its first value depends on what the method is called with", CALL
            )
            return ""
        if made.is_stand_in:
            frame.recorder.mark(node, STAND_IN, CALL)
        return self._declaring.declare(collection, spelled, made, value, node, frame)

    # -- by name ------------------------------------------------------------------------------

    def _note(
        self,
        method: str,
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
        value: Value = UNKNOWN,
    ) -> None:
        """Note that a variable is asked for by name: all are known when all is gone through."""
        bound = bind_names(["col", "name", "value"], passed)
        collection, name = (
            str(one.value.value) if one is not None and isinstance(one.value, Const) else ""
            for one in (bound.by_name.get("col"), bound.by_name.get("name"))
        )
        conditions = tuple(frame.recorder.conditions)
        frame.log(StateAccess(node, method, collection, name, value, conditions))

    def _has(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        self._note("has_variable", passed, node, frame)
        return UNKNOWN

    def _get(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        self._note("get_variable", passed, node, frame)
        bound = bind_names(["col", "name", "default"], passed)
        collection, name = bound.by_name.get("col"), bound.by_name.get("name")
        if collection is None or name is None:
            return UNKNOWN
        match collection.value, name.value:
            case Const(value=where), Const(value=text):
                known = frame.recorder.variables.get(f"{where}/{text}")
                put = next(
                    (
                        one.value
                        for one in frame.recorder.log.of(StateAccess)
                        if (one.method, one.collection, one.name) == ("put_variable", where, text)
                    ),
                    UNKNOWN,
                )
                return put if known is None else known.value
        return UNKNOWN

    def _put(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        bound = bind_names(["col", "name", "value"], passed)
        given = bound.by_name.get("value")
        self._note("put_variable", passed, node, frame, UNKNOWN if given is None else given.value)
        return NONE

    def attribute_text(self, node: cst.BaseExpression, frame: Frame) -> str:
        """Return the attribute that an expression names; empty where nothing is known of it."""
        value = frame.seen(node) or UNKNOWN
        code = self._code.bound(node, value, frame).code
        found = self._declaring.name_of(Passed(value, code, node), frame)
        is_computed = found is None or re.fullmatch(r"\{\w+\}", found.text) is not None
        return "" if found is None or is_computed else found.text

    def note_write(self, node: cst.Assign | cst.AugAssign, written: Value, frame: Frame) -> None:
        """Note a statement that writes the value of a variable."""
        target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
        is_single = not isinstance(node, cst.Assign) or len(node.targets) == 1
        match target:
            case cst.Attribute(value=owner, attr=cst.Name(value="value")) if is_single:
                value = self._evaluate(owner, frame)
                if isinstance(value, VariableValue) and not frame.verbatim:
                    frame.log(Edit(node, Assignment(_reading(value))))
                    if _has_other_shape(written, value.array):
                        message = "it is written with another shape than it begins with"
                        frame.mark(node, message, NAME)

    @staticmethod
    def read(variable: VariableValue, node: cst.Attribute, frame: Frame) -> Value:
        """Return the value of a variable: `count.value`, which is `count[...]` in NNX."""
        if frame.records and isinstance(node.value, (cst.Name, cst.Attribute, cst.Subscript)):
            frame.recorder.replace(node, f"{code_of(node.value)}{_reading(variable)}")
        return variable.array

    # -- the rest -----------------------------------------------------------------------------

    def merge_param(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what `nn.merge_param` returns: whichever of two settings is given."""
        bound = bind_names(["name", "a", "b"], passed)
        one, other = bound.by_name.get("a"), bound.by_name.get("b")
        if one is None or other is None:
            return UNKNOWN
        first, second = code_of(one.node), code_of(other.node)
        frame.replace(node, f"({second} if {second} is not None else {first})")
        return UNKNOWN

    def assign_attribute(
        self, owner: SelfValue, name: str, value: Value, target: cst.BaseExpression, frame: Frame
    ) -> None:
        """Note what an attribute of the object is assigned."""
        kept = value
        is_short = isinstance(
            value, (ModuleValue, Array, VariableValue, Partial)
        ) or holds_callables(value)
        if not is_short and frame.records:
            code = self._code.of_value(value, frame)
            # An attribute of a field is what other modules have for it, too.
            is_long = code is not None and len(code) > 20 and re.fullmatch(r"[\w.]+", code) is None
            if is_long:
                kept = Code(f"self.{name}")
        before = owner.attributes.get(name)
        is_plain = isinstance(kept, (Const, Size, Code, Unknown))
        is_plain = is_plain and not (kept == NONE and before is not None and is_module(before))
        if frame.records and is_plain and (frame.recorder.conditions or before not in (None, kept)):
            # Which branch assigned it, only the constructor knows.
            owner.attributes[name] = Code(f"self.{name}")
            if kept == NONE:
                owner.may_be_none.add(name)
            return
        now = (kept, tuple(frame.recorder.conditions))
        earlier = owner.assigned.setdefault(name, [])
        if any(takes_place(*one, *now) for one in earlier):
            owner.replaced[target] = is_submodule(kept)
        earlier.append(now)
        if name in owner.may_be_none and isinstance(before, Code) and is_module(kept):
            before = NONE
        are_lists = isinstance(before, Repeated) and isinstance(kept, Repeated)
        if (
            before is not None
            and before != kept
            and (is_module(before) or is_module(kept) or are_lists)
        ):
            # Another branch of `setup` assigned it.
            settle_branches(before, kept, frame.recorder.branch_codes)
            joined = self._merging.joined(before, kept, frame)
            kept = assigned_if(joined, before, kept, frame.recorder)
        owner.attributes[name] = kept


def _reading(variable: VariableValue) -> str:
    return "[...]" if isinstance(variable.array, Array) else ".get_value()"


def _has_other_shape(written: Value, first: Value) -> bool:
    """Whether a variable is written with another shape than that of its first value."""
    if not isinstance(first, Array) or not isinstance(written, Array):
        return False
    if first.shape.rank is None or written.shape.rank is None:
        # What comes from an argument is no scalar, but where its whole shape is reduced.
        return (
            first.shape.rank == 0
            and written.shape.rank is None
            and bool(written.shape.lead and written.shape.lead.argument)
        )
    return first.shape.rank != written.shape.rank
