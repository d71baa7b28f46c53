"""Parameters and variables that methods declare, and what else modules of Linen offer methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, is_name
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CALL,
    COUNTERPART,
    FIRST_VALUE,
    NAME,
    SIZE,
    Assignment,
    Call,
    ClassPlan,
    Edit,
    Entry,
    Lifted,
    Need,
    Site,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Declare,
    Evaluate,
    Frame,
    Recorder,
    Sow,
    StateAccess,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
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
    Passed,
    Seq,
    Size,
    Table,
    Unknown,
    Value,
    made_by,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import (
    assigned_if,
    is_submodule,
    takes_place,
)
from typed_nnx_codegen.migrate.linen.evaluate.declaring import (
    MODE,
    STATISTICS,
    Declaring,
    FirstValues,
    Made,
    VariableName,
)
from typed_nnx_codegen.migrate.linen.evaluate.entries import FUNCTIONAL
from typed_nnx_codegen.migrate.linen.evaluate.lifts import (
    TYPES,
    Stack,
    Unsupported,
    settle_branches,
    stacks_of,
)
from typed_nnx_codegen.migrate.linen.evaluate.lists import is_longer, made_within
from typed_nnx_codegen.migrate.linen.evaluate.merging import Merging, holds_callables, is_module
from typed_nnx_codegen.migrate.linen.evaluate.recurrence import Normalizing
from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.shapes.operands import BoundArguments, bind_names
from typed_nnx_codegen.migrate.linen.trace.record import Trace
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode, has_made

_SOWN: Final = (
    "NNX keeps what is sown from one call to the next; take it away with `nnx.pop` after each call"
)


_NOT_MIGRATED: Final = frozenset({"perturb", "get_variable", "put_variable"})


# Functions that declare variables and name their axes, and the methods that only declare them.
WITH_AXES: Final = {
    f"{LINEN}.param_with_axes": "param",
    f"{LINEN}.variable_with_axes": "variable",
}


class Variables:
    """Declares variables.

    Args:
        code: Writes expressions for the constructor.
        merging: Joins values.
        evaluate: Goes through an expression.
        refer: Gives the code for a public name.
        declaring: Declares variables.
        first_values: Finds their first values.
        trace: What programs of the project were seen to do, if any ran.
    """

    def __init__(
        self,
        code: ConstructorCode,
        merging: Merging,
        evaluate: Evaluate,
        refer: Callable[[str], str],
        declaring: Declaring,
        first_values: FirstValues,
        trace: Trace | None,
    ) -> None:
        self._trace = trace
        self._code = code
        self._merging = merging
        self._evaluate = evaluate
        self._refer = refer
        self._declaring = declaring
        self._first_values = first_values
        self._later = LaterVariables(refer, declaring)
        self.normalizing = Normalizing(code, declaring)
        self._handlers: Final[dict[str, Callable[..., Value]]] = {
            "param": self._param,
            "variable": self._variable,
            "make_rng": self._make_rng,
            "has_rng": self._has_rng,
            "sow": self._sow,
            "is_initializing": self._is_initializing,
            "is_mutable_collection": self._is_mutable,
            "has_variable": self._has,
        }

    def call(
        self, instance: SelfValue, name: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a method of Linen's Module returns."""
        del instance
        handler = self._handlers.get(name)
        if handler is None and name in FUNCTIONAL and not frame.verbatim:
            return UNKNOWN  # a function does it with the module as it is
        if handler is None:
            problem = "is not migrated" if name in _NOT_MIGRATED else "has no counterpart in NNX"
            frame.mark(node, f"`self.{name}` {problem}", COUNTERPART)
            return UNKNOWN
        return handler(passed, node, frame)

    # -- declarations -------------------------------------------------------------------------

    def _param(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        bound = bind_names(["name", "init_fn"], passed)
        name, init = bound.by_name.get("name"), bound.by_name.get("init_fn")
        if name is None or init is None or bound.is_open:
            return self._unclear(node, frame)
        value = self._first_values.value(init, bound, frame, has_key=True)
        key = f"{frame.recorder.rngs}.params()"
        attribute = self._declared("params", name, bound, key, value, node, frame)
        if isinstance(value, Array) and not frame.verbatim and has_made(attribute, frame):
            # The first value of another parameter may be computed from it.
            return replace(value, made=f"self.{attribute}[...]", of_shapes=True)
        return value

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

    def with_axes(self, function: str, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Declare a variable of the module whose method runs, with names of its axes.

        Linen keeps the names in a collection of their own, NNX with the variable.
        """
        axes, module = (
            next((one for one in passed if one.keyword == keyword), None)
            for keyword in ("axes", "module")
        )
        given = [one for one in passed if one is not axes and one is not module]
        if module is not None and module.value is not frame.recorder.instance:
            message = f"`{code_of(node.func)}` declares a variable of another module"
            frame.mark(node, message, COUNTERPART)
            return UNKNOWN
        is_param = WITH_AXES[function] == "param"
        bound = bind_names(_FIRST[1:] if is_param else _FIRST, given)
        init, name = bound.by_name.get("init_fn"), bound.by_name.get("name")
        if axes is not None and axes.value != NONE and init is not None and name is not None:
            code = self._with_axes(init, axes, frame)
            if code is None:
                frame.mark(node, FIRST_VALUE, CALL)
                return UNKNOWN
            given[given.index(init)] = replace(init, value=UNKNOWN, code=code)
            self._note_axes(bound, frame)
        return (self._param if is_param else self._variable)(given, node, frame)

    def _with_axes(self, init: Passed, axes: Passed, frame: Frame) -> str | None:
        """Return the code of an initializer that names axes; None where it cannot be said."""
        function = self._first_values.function(init, frame)
        names = axes.code or self._code.of(axes.node, frame)
        if function is None or names is None:
            return None
        return f"{self._refer('nnx.with_partitioning')}({function}, {names}, eager_sharding=False)"

    def _note_axes(self, bound: BoundArguments, frame: Frame) -> None:
        """Note where Linen keeps the names of the axes of a variable: that has no place in NNX."""
        name = self._declaring.name_of(bound.by_name["name"], frame)
        col = bound.by_name.get("col")
        collection = (
            col.value.value if col is not None and isinstance(col.value, Const) else "params"
        )
        if name is not None and frame.records:
            entry = Entry(f"{collection}_axes/{name.text}_axes", None)
            frame.recorder.plan.others.append(entry)

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
        made = self._first_values.made(bound.by_name["init_fn"], bound, key, frame)
        conditions = frame.recorder.conditions
        is_asked = any(one.is_of_call for one in conditions) and asks_for(
            collection, frame.recorder
        )
        if made is None or is_asked:
            attribute = self._later.declare(collection, spelled, value, node, frame)
            if attribute:
                return attribute
        if made is None:
            made = self._of_trace(collection, spelled, bound, key, node, frame)
        if made is None:
            frame.recorder.mark(node, FIRST_VALUE, CALL)
            return ""
        return self._declaring.declare(collection, spelled, made, value, node, frame)

    def _of_trace(
        self,
        collection: str,
        name: VariableName,
        bound: BoundArguments,
        key: str,
        node: cst.Call,
        frame: Frame,
    ) -> Made | None:
        """Return a first value whose shape is a parameter; None where no trace has its shape."""
        recorder = frame.recorder
        if self._trace is None:
            return None
        found = self._trace.shapes_of(recorder.plan.cls, collection, name.text)
        made = self._first_values.made(bound.by_name["init_fn"], bound, key, frame, "shape")
        if not found or made is None:
            return None
        attribute = self._declaring.attribute(collection, name, frame)
        where = f"{collection}/{name.text}"
        if where not in recorder.traced:
            sizes = list(dict.fromkeys(shape for _, shape in found))
            parameter = recorder.fresh(f"{re.sub(r'{|}', '', attribute)}_shape")
            if len(sizes) > 1:
                shown = ", ".join(map(repr, sizes[:8]))
                text = f"its shape is not known: give `{parameter}`; in the trace it is {shown}"
                recorder.mark(node, text, SIZE)
            recorder.traced[where] = Lifted(
                parameter,
                why="the code does not tell the shape of this variable",
                default=repr(sizes[0]) if len(sizes) == 1 else "",
                is_listed=True,
                measured=tuple(found),
            )
        parameter = recorder.traced[where].name
        return self._first_values.made(bound.by_name["init_fn"], bound, key, frame, parameter)

    # -- by name ------------------------------------------------------------------------------

    @staticmethod
    def _note(method: str, passed: list[Passed], node: cst.Call, frame: Frame) -> None:
        """Note that a variable is asked for by name: all are known when all is gone through."""
        bound = bind_names(["col", "name"], passed).by_name
        collection, name = (
            str(one.value.value) if one is not None and isinstance(one.value, Const) else ""
            for one in (bound.get("col"), bound.get("name"))
        )
        conditions = tuple(frame.recorder.conditions)
        frame.log(StateAccess(node, method, collection, name, conditions))

    def _has(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        self._note("has_variable", passed, node, frame)
        return UNKNOWN

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
        # A number or None is what it begins with; a later call may find another one.
        return variable.array if isinstance(variable.array, Array | Seq | Table) else UNKNOWN

    # -- keys ---------------------------------------------------------------------------------

    def _make_rng(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return a key: of a stream of `self.rngs`."""
        if not frame.records:
            return UNKNOWN
        recorder = frame.recorder
        if frame.verbatim:
            recorder.mark(node, "a key that `setup` draws: NNX draws it once", CALL)
        recorder.uses_rngs = True
        recorder.replace(node, f"{self._stream(passed, frame)}()")
        return UNKNOWN

    def _has_rng(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return whether there is a stream of keys."""
        if frame.records:
            frame.recorder.uses_rngs = True
            name = passed[0].node if passed else cst.SimpleString("'params'")
            owner = "rngs" if frame.verbatim else f"{frame.name_of_instance()}.rngs"
            frame.recorder.replace(node, f"({code_of(name)} in {owner})")
        return UNKNOWN

    @staticmethod
    def _stream(passed: list[Passed], frame: Frame) -> str:
        owner = "rngs" if frame.verbatim else f"{frame.name_of_instance()}.rngs"
        if not passed:
            return f"{owner}.params"
        match passed[0].value:
            case Const(value=str() as name) if name.isidentifier():
                if isinstance(passed[0].node, cst.SimpleString):
                    return f"{owner}.{name}"
        return f"{owner}[{code_of(passed[0].node)}]"

    # -- what is seen on the way --------------------------------------------------------------

    def _sow(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Write a value that is sown: collections have types in NNX, and names are attributes."""
        bound = bind_names(["col", "name", "value", "reduce_fn", "init_fn"], passed)
        collection, name = bound.by_name.get("col"), bound.by_name.get("name")
        if not frame.records or collection is None or name is None:
            return UNKNOWN
        recorder = frame.recorder
        if not isinstance(collection.value, Const):
            recorder.mark(node, "`sow` into a collection whose name is computed", NAME)
            return UNKNOWN
        known = TYPES.get(str(collection.value.value))
        if collection.keyword:
            arg = next(one for one in node.args if one.value is collection.node)
            assert arg.keyword is not None
            recorder.replace(arg.keyword, "variable_type")
        if known is not None:
            recorder.replace(collection.node, self._refer(known))
        if known is None:
            recorder.mark(node, _SOWN, CALL)
        if not isinstance(name.value, Const):
            return UNKNOWN
        text = str(name.value.value)
        frame.log(Sow(f"{collection.value.value}/{text}", name.node))
        return UNKNOWN

    # -- questions ----------------------------------------------------------------------------

    def _is_initializing(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return whether variables are being made: a call of an NNX module never makes them."""
        del passed
        frame.replace(node, "False")
        return UNKNOWN

    def _is_mutable(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return whether a collection can be written: in NNX all can."""
        if passed and passed[0].value == Const("params"):
            # Parameters are only mutable while they are made.
            return self._is_initializing(passed, node, frame)
        if passed and passed[0].value == Const(STATISTICS) and ask_mode(node, frame):
            return UNKNOWN
        if frame.records:
            frame.recorder.replace(node, "True")
            message = "what is computed depends on which collections are mutable"
            frame.recorder.mark(node, message, CALL)
        return Const(True)

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
            if is_long and isinstance(value, Choice):
                kept = replace(value, code=f"self.{name}")
            elif is_long:
                kept = Code(f"self.{name}", made=made_within(value))
        before = owner.attributes.get(name)
        if isinstance(value, ModuleValue) and value.site.loops != tuple(frame.recorder.loops):
            holders = [k for k, one in owner.attributes.items() if one == value and k != name]
            if holders and frame.records:
                message = f"`{holders[0]}` and `{name}` are of one list: construct each by itself"
                frame.recorder.mark(target, message, NAME)
        is_plain = all(
            isinstance(one, (Const, Size, Code, Unknown))
            for one in (kept.items if isinstance(kept, Seq) and kept.items else (kept,))
        )
        is_plain = is_plain and not (kept == NONE and before is not None and is_module(before))
        if frame.records and is_plain and (frame.recorder.conditions or before not in (None, kept)):
            # Which branch assigned it, only the constructor knows.
            owner.attributes[name] = Code(f"self.{name}", made=made_by(kept))
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
        if not frame.recorder.conditions and is_longer(kept, before):
            before = None
        if (
            before is not None
            and before != kept
            and (is_module(before) or is_module(kept) or are_lists)
        ):
            # Another branch of `setup` assigned it.
            settle_branches(before, kept, frame.recorder.branch_codes)
            joined = self._merging.joined(before, kept, frame)
            kept = assigned_if(joined, before, kept, frame.recorder)
        elif kept == NONE and before is not None:
            # It may be the other side of a branch.
            kept = self._merging.joined(before, kept, frame)
        owner.attributes[name] = kept


def _reading(variable: VariableValue) -> str:
    return "[...]" if isinstance(variable.array, Array) else ".get_value()"


def _has_other_shape(written: Value, first: Value) -> bool:
    """Whether a variable is written with another shape than that of its first value.

    `init` of Linen runs the method, and leaves what was written last; the constructor does not.
    """
    if first == NONE:
        return written != NONE
    if not isinstance(first, Array) or not isinstance(written, Array):
        return False
    if first.shape.rank is None or written.shape.rank is None:
        # What comes from an argument is no scalar, but where its whole shape is reduced.
        return (
            first.shape.rank == 0
            and written.shape.rank is None
            and bool(written.shape.lead and written.shape.lead.argument)
        )
    return first.shape.rank != written.shape.rank or any(
        map(_surely_differ, first.shape.dims, written.shape.dims)
    )


def _surely_differ(one: Dim | None, other: Dim | None) -> bool:
    """Whether a size is another one than the number that it was: no size of an input is zero."""
    if one is None or other is None or one.constant is None:
        return False
    return one != other and (other.constant is not None or one.constant == 0)


# -- which collections may change --------------------------------------------------------------


def ask_mode(node: cst.Call, frame: Frame) -> bool:
    """Write the question whether statistics are mutable as one for the mode of the module.

    Returns:
        Whether that is possible.
    """
    if not frame.records:
        return True
    recorder = frame.recorder
    cls = recorder.plan.cls
    taken = {one.name for one in cls.fields()} | set(cls.methods())
    taken |= {one.attribute for one in recorder.variables.values()}
    if recorder.instance is not None:
        taken |= set(recorder.instance.attributes)
    if frame.verbatim or frame.method is None or MODE in taken:
        return False
    recorder.plan.asks_mode = True
    negated = next((one for one in descendants(frame.method.node) if _is_negation(one, node)), None)
    if negated is None:
        recorder.replace(node, f"(not self.{MODE})")
    else:
        recorder.replace(negated, f"self.{MODE}")
    return True


def _is_negation(node: cst.CSTNode, inner: cst.CSTNode) -> bool:
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return expression is inner
    return False


# -- variables that calls make ----------------------------------------------------------------

# The arguments of `self.variable` before those of the initializer.
_FIRST: Final = ("col", "name", "init_fn")

MADE_ONCE: Final = Helper("made_once")


@dataclass(frozen=True, eq=False)
class LaterVariables:
    """Declares variables that the constructor leaves None."""

    refer: Callable[[str], str]
    declaring: Declaring

    def declare(
        self, collection: str, name: VariableName, value: Value, node: cst.Call, frame: Frame
    ) -> str:
        """Declare a variable; return its attribute, or nothing where a call cannot make it."""
        recorder = frame.recorder
        is_plain = name.is_literal and not name.is_pattern
        if not is_plain or collection == "params" or frame.verbatim or recorder.loops:
            return ""
        if any(isinstance(one, Stack) for one in recorder.stacks) or not _is_spelled(node):
            return ""
        key = f"{collection}/{name.text}"
        known = recorder.variables.get(key)
        if known is not None and not known.later:
            return ""
        attribute = self.declaring.attribute(collection, name, frame)
        if known is None:
            none = f"{self.refer('nnx.data')}(None)"
            frame.log(Declare(key, attribute, value, later=none))
        frame.log(Need(MADE_ONCE))
        kind = self.declaring.kind(collection)
        if "(" in kind:
            kind = f"lambda value: {kind}(value)"
        frame.replace(node, _MadeOnce(attribute, kind))
        return attribute


def asks_for(collection: str, recorder: Recorder) -> bool:
    """Whether a module asks whether it has variables of a collection."""
    for method in recorder.plan.cls.methods().values():
        for text in _questions(method.node):
            if text in ("", collection):
                return True
    return False


def mark_stacked(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
    """Mark submodules under transforms that cannot pass on variables made within a call."""
    plan = recorder.plan
    plan.makes_later = any(one.later for one in recorder.variables.values())
    for site in plan.sites:
        for one in (site, *site.alternatives):
            if not isinstance(one.target, LinenClass) or not plan_of(one.target).makes_later:
                continue
            plan.makes_later = True
            if _maps(site):
                recorder.mark(site.node, "variables that a call makes under a transform")


def _maps(site: Site) -> bool:
    """Whether transforms around a submodule run it more than once, or may."""
    try:
        return bool(stacks_of(site))
    except Unsupported:
        return True


def _questions(function: cst.FunctionDef) -> list[str]:
    """Return the collections in which a function asks for variables; "" for any."""
    found: list[str] = []
    for node in descendants(function):
        match node:
            case cst.Call(
                func=cst.Attribute(attr=cst.Name(value="has_variable")), args=[first, *_]
            ):
                asked = first.value
                text = asked.evaluated_value if isinstance(asked, cst.SimpleString) else ""
                found.append(str(text))
    return found


def _is_spelled(node: cst.Call) -> bool:
    """Whether a call is one of `self.variable`, its first arguments where they are looked for."""
    names = [arg.keyword.value if arg.keyword is not None else "" for arg in node.args]
    return (
        isinstance(node.func, cst.Attribute)
        and is_name(node.func.attr, "variable")
        and not any(arg.star for arg in node.args[:3])
        and "unbox" not in names
        and all(name in ("", wanted) for name, wanted in zip(names, _FIRST, strict=False))
        and len(names) > len(_FIRST) - 1
        and not set(names[3:]) & set(_FIRST)
    )


@dataclass(frozen=True)
class _MadeOnce:
    """Writes `self.variable(...)` as the call that makes the variable once.

    Attributes:
        attribute: The attribute of the variable.
        kind: The expression for its type.
    """

    attribute: str
    kind: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the call."""
        del node
        assert isinstance(updated.func, cst.Attribute)
        _, _, init, *others = updated.args
        first = [
            updated.func.value,
            cst.parse_expression(repr(self.attribute)),
            cst.parse_expression(self.kind),
            init.value,
        ]
        space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args = [cst.Arg(one, comma=space) for one in first]
        if not others:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return cst.Call(cst.Name(MADE_ONCE.name), [*args, *others])


_LAYERS: Final = frozenset(
    {
        "flax.linen.MultiHeadDotProductAttention",
        "flax.linen.MultiHeadAttention",
        "flax.linen.SelfAttention",
    }
)


def cache_lines(site: Site, recorder: Recorder, writer: ConstructorCode) -> Iterator[str]:
    """Yield the lines of the constructor that make the cache of an attention layer.

    Linen makes it where the layer is initialized, of the shape that it is called with there.
    """
    decode = site.given.get("decode")
    if site.target not in _LAYERS or decode is None or decode.code is None:
        return
    if isinstance(decode.value, Const) and not decode.value.value:
        return
    frame = Frame(recorder, recorder.plan.cls.analysis, recorder.instance)
    calls = recorder.log.about(Call, site)
    queries = calls[0].values.get("inputs_q") if calls else None
    shape = None
    if isinstance(queries, Array):
        shape = writer.of_shape(queries.shape, frame)
    if shape is None or "{" in site.attribute:
        recorder.mark(site.node, "call `init_cache(shape)` of it before decoding", CALL)
        return
    line = f"self.{site.attribute}.init_cache({shape})"
    if isinstance(decode.value, Const):
        yield line
        return
    yield f"if {decode.code}:"
    yield f"    {line}"


def caches_in(
    node: cst.BaseStatement, sites: Sequence[Site], recorder: Recorder, writer: ConstructorCode
) -> Iterator[str]:
    """Yield such lines for the layers that a statement of `setup` constructs."""
    below = set(descendants(node))
    for site in sites:
        if site.is_verbatim and site.node in below and site.attribute:
            yield from cache_lines(site, recorder, writer)
