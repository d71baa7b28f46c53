"""Evaluates calls: what they return and build."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted, of_kinds
from typed_nnx_codegen.migrate.analysis.values import ProjectClass
from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.domain.class_plan import COUNTERPART, Build
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    Field,
    LinenClass,
    LinenClasses,
    Method,
)
from typed_nnx_codegen.migrate.linen.domain.dims import Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallEdit,
    Dispatch,
    Evaluate,
    Frame,
    FunctionRef,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    ArrayMethod,
    BoundMethod,
    Choice,
    ClassRef,
    ClassTransform,
    FieldModule,
    ModuleValue,
    OneOf,
    Partial,
    PlainClass,
    Ref,
    Repeated,
    SelfValue,
    SizedList,
    VariableValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Lead,
    Made,
    Passed,
    Seq,
    Shape,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import asked_in, condition_of, instance_of
from typed_nnx_codegen.migrate.linen.evaluate.entries import share_scope
from typed_nnx_codegen.migrate.linen.evaluate.functions import (
    Functions,
    LoopedFunctions,
    Mapped,
    MappedFunctions,
    computed_number,
    is_refused,
    is_transform_of_jax,
    spelled,
    under_transform,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifted_functions import LiftedFunctions
from typed_nnx_codegen.migrate.linen.evaluate.lifts import is_transform
from typed_nnx_codegen.migrate.linen.evaluate.lists import (
    container_method,
    item_or_default,
    note_setting_call,
    over_arrays,
    over_values,
)
from typed_nnx_codegen.migrate.linen.evaluate.merging import (
    Merging,
    is_class,
    mark_classes,
)
from typed_nnx_codegen.migrate.linen.evaluate.module_calls import ModuleCalls
from typed_nnx_codegen.migrate.linen.evaluate.recurrence import NORMALIZE, Recurrence
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import SizedLists
from typed_nnx_codegen.migrate.linen.evaluate.submodules import (
    Members,
    Submodules,
    built_at,
    local_definition,
    of_elsewhere,
    spelled_as,
    with_given,
)
from typed_nnx_codegen.migrate.linen.evaluate.variables import WITH_AXES, Variables
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_ARRAYS: Final = frozenset({"ndarray", "Array"})


def with_arrays(passed: Iterable[Passed], frame: Frame) -> list[Passed]:
    """Return the arguments of a submodule, with the sizes of those that are arrays in fields."""
    cls = frame.recorder.plan.cls
    return [replace(one, value=_sized(one.value, cls)) for one in passed]


def _sized(value: Value, cls: LinenClass) -> Value:
    match value:
        case Code(code=code) if code.startswith("self."):
            if any(_is_array(one) for one in cls.fields() if code == f"self.{one.name}"):
                dims = tuple(as_dim(Piece(f"{code}.shape[{axis}]")) for axis in (-2, -1))
                return Array(Shape(dims, Lead("", None)), made=code)
    return value


def _is_array(one: Field) -> bool:
    """Whether the type of a field says that it holds an array."""
    node = one.annotation.annotation
    if isinstance(node, cst.Subscript):
        node = node.value
    return dotted(node).rpartition(".")[2] in _ARRAYS


@dataclass(frozen=True, eq=False)
class ChoiceCalls:
    """Calls one of a few functions, classes or submodules."""

    submodules: Submodules
    module_calls: ModuleCalls
    merging: Merging
    dispatch: Dispatch

    def call(self, callee: Choice, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what a call of one of a few functions, classes or submodules returns."""
        there = [one for one in callee.options if one != NONE]
        modules = [one for one in there if isinstance(one, ModuleValue | FieldModule)]
        others = [one for one in there if one not in modules]
        if not others:
            return self.module_calls.call(callee, "__call__", passed, node, frame)
        if callee.tests and callee.options == (*others,):
            return self.submodules.one_of(callee.options, passed, node, frame, callee.tests)
        if any(is_class(one) for one in others):
            frame.mark(node, "which class is constructed here depends on a branch")
            return UNKNOWN
        built = len(frame.recorder.log.of(Build))
        function = self._joined(others, passed, node, frame)
        if len(there) > 1 and len(frame.recorder.log.of(Build)) > built:
            # The constructor would build the parts of all of them, Linen those of one.
            frame.mark(node, "which function builds submodules here depends on a branch")
        if not modules:
            return function
        module = self._joined(modules, passed, node, frame)
        _check_arguments(node, frame)
        condition = condition_of(callee.condition, frame.recorder) if callee.condition else None
        if condition is None:
            return self.merging.joined(module, function, frame)
        return self.merging.chosen(condition, module, function, frame)

    def _joined(
        self, options: Sequence[Value], passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what stands for the results of calls of some values."""
        # What a setting gives in the place of a few functions returns what these return.
        first, *others = [one for one in options if not isinstance(one, Code)] or options
        value = self.dispatch(first, passed, node, frame)
        for one in others:
            other = self.dispatch(one, passed, node, frame)
            value = self.merging.joined(value, other, frame)
        return value


def _check_arguments(node: cst.Call, frame: Frame) -> None:
    """Mark a call whose arguments NNX has otherwise for the submodule: the function has them too."""
    edits = frame.recorder.log.about(CallEdit, node) if frame.records else []
    if any(one.arguments is not None for one in edits):
        frame.recorder.mark(
            node, "a function may stand for this submodule, and its arguments are written otherwise"
        )


# Callables of which nothing is known but that arrays keep their shape, by the name of the field.
_ACTIVATION: Final = re.compile(
    r"(^|_)(acts?|activ|activate|activations?|non_?lin(ear|earity|earities)?)(2?fn|\d*)(_|$)"
)


# The outputs of models that `transformers` defines: a number finds a field that is not None.
_OUTPUT: Final = re.compile(r"transformers\.(\w+\.)*Flax\w+Output(With\w+)?")
_FIRST_FIELDS: Final = frozenset({"last_hidden_state", "logits", "start_logits"})


# The arguments that functions of Linen have, and those of NNX with the same name have not.
_ONLY_LINEN: Final = {
    "dot_product_attention": frozenset(
        {"attn_weights_value_einsum", "einsum_dot_general", "force_fp32_for_softmax"}
        | {"qk_attn_weights_einsum"}
    ),
    "dot_product_attention_weights": frozenset(
        {"einsum", "einsum_dot_general", "force_fp32_for_softmax"}
    ),
}


@dataclass(frozen=True, eq=False)
class Calls:
    """Goes through calls.

    Attributes:
        classes: The modules of the project.
        code: Writes expressions for the constructor.
        evaluate: Goes through an expression.
        submodules: Constructs submodules.
        functions: Goes through methods and functions.
        module_calls: Calls submodules.
        choice_calls: Calls one of a few values.
        members: Finds attributes of modules.
        variables: Declares variables.
        recurrence: Goes through layers that run others over time.
        mapped_functions: Goes through functions that JAX maps.
        looped_functions: Goes through functions that JAX runs in loops.
        lifted_functions: Evaluates calls of functions under transforms of Linen.
        sized_lists: Goes through lists of arrays whose sizes are known.
        merging: Joins values.
        parent_setup: Goes through the `setup` that another one calls.
    """

    classes: LinenClasses
    code: ConstructorCode
    evaluate: Evaluate
    submodules: Submodules
    functions: Functions
    module_calls: ModuleCalls
    choice_calls: ChoiceCalls
    members: Members
    variables: Variables
    recurrence: Recurrence
    mapped_functions: MappedFunctions
    looped_functions: LoopedFunctions
    lifted_functions: LiftedFunctions
    sized_lists: SizedLists
    merging: Merging
    parent_setup: Callable[[SelfValue, Method, cst.Call, Frame], Value]

    def call(self, node: cst.Call, frame: Frame) -> Value:
        """Return what a call returns."""
        carry = self.recurrence.first_carry(node, frame)
        if carry is not None:
            return carry
        parent = self._of_parent(node, frame)
        if parent is not None:
            return self.dispatch(parent, self.passed(node, frame), node, frame)
        callee = self.evaluate(node.func, frame)
        passed = self.passed(node, frame)
        of_class = self._of_class(node, passed, frame)
        if of_class is not None:
            callee, passed = of_class, passed[1:]
        return self.dispatch(callee, passed, node, frame)

    def passed(self, node: cst.Call, frame: Frame) -> list[Passed]:
        """Go through the arguments of a call."""
        found: list[Passed] = []
        for arg in node.args:
            value = self.evaluate(arg.value, frame)
            if arg.star == "*" and isinstance(value, Seq):
                found += [
                    Passed(item, self.code.of_value(item, frame), arg.value) for item in value.items
                ]
                continue
            if arg.star == "**" and isinstance(value, Table):
                found += [
                    Passed(item, self.code.of_value(item, frame), arg.value, str(key))
                    for key, item in value.items.items()
                ]
                continue
            code = self.code.of_argument(arg.value, value, frame)
            keyword = arg.keyword.value if arg.keyword is not None else ""
            place = frame if code is None else None
            found.append(Passed(value, code, arg.value, keyword, arg.star, place=place))
        return found

    def _of_parent(self, node: cst.Call, frame: Frame) -> Value | None:
        """Return the method that `super().name` is."""
        match node.func:
            case cst.Attribute(value=cst.Call(func=cst.Name(value="super")), attr=name):
                if frame.instance is None or frame.method is None:
                    return UNKNOWN
                cls = frame.instance.cls
                method = cls.method_after(frame.method.owner, name.value)
                if method is None:
                    return UNKNOWN
                return BoundMethod(frame.instance, name.value, method)
        return None

    def _of_class(self, node: cst.Call, passed: list[Passed], frame: Frame) -> BoundMethod | None:
        """Return the method that `Other.name(self, ...)` is, which a class may only borrow."""
        if not isinstance(node.func, cst.Attribute) or not passed or passed[0].keyword:
            return None
        owner = frame.seen(node.func.value)
        instance = passed[0].value
        if not isinstance(owner, ClassRef) or not isinstance(instance, SelfValue):
            return None
        method = owner.cls.method(node.func.attr.value)
        if method is None or not method.is_bound:
            return None
        return BoundMethod(instance, method.name, method)

    def dispatch(self, callee: Value, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what a call of a value returns."""
        if isinstance(callee, (Code, OneOf, Choice, Unknown)):
            self._check_given(passed, node, frame)
        match callee:
            case Partial(function=function):
                given = with_given(callee, passed)
                return self.dispatch(spelled_as(function, callee.code), given, node, frame)
            case ClassTransform():
                value = self.lifted_functions.call(callee, passed, node, frame)
                if value is not None:
                    return value
                return self.submodules.construct(callee, passed, node, frame)
            case ClassRef() | PlainClass():
                return self.submodules.construct(callee, passed, node, frame)
            case Ref(name=name) if name.startswith(f"{LINEN}."):
                return self._linen(callee, passed, node, frame)
            case Ref(name=name, code=code):
                value = self._external(name, passed, node, frame)
                if isinstance(value, Unknown):
                    self._check_classes(name, passed, node, frame)
                if value == UNKNOWN:
                    return _activated(code, passed, node) or _made_elsewhere(name, node)
                return value
            case FieldModule() if not passed and _needs_arguments(callee):
                return Unknown(made=Made(node))  # a class, whatever its type says
            case ModuleValue() | FieldModule():
                given = with_arrays(passed, frame)
                return self.module_calls.call(callee, "__call__", given, node, frame)
            case BoundMethod():
                return self._method(callee, passed, node, frame)
            case ArrayMethod(array=array, name=name):
                return _shape_call(shapes.method_result(array, name, *_split(passed)))
            case FunctionRef():
                return self._function(callee, passed, node, frame)
            case Code(code=code, made=made):
                self._check_made(made, frame)
                self._check_bound_twice(node, frame)
                note_setting_call(node, frame)
                return _opaque(code, passed, node)
            case OneOf(options=options):
                return self.submodules.one_of(options, passed, node, frame)
            case Choice(options=options) if options[:2] == _ACTIVATIONS and not _has_array(passed):
                frame.mark(node, f"what `{code_of(node.func)}` builds is not known")
            case Choice():
                return self.choice_calls.call(callee, passed, node, frame)
            case Mapped():
                return self.mapped_functions.call(callee, passed, node, frame)
            case Unknown(made=made):
                self._check_made(made, frame)
                self._check_bound_twice(node, frame)
                self._check_name(node, frame)
        return UNKNOWN

    @staticmethod
    def _check_name(node: cst.Call, frame: Frame) -> None:
        """Mark a call of something unknown that names what it makes: it constructs a module."""
        is_named = any(one.keyword and one.keyword.value == "name" for one in node.args)
        if is_named and any(one.func is node for one in frame.analysis.nodes.of(cst.Call)):
            frame.mark(node, f"what `{code_of(node.func)}` builds is not known")

    def _check_bound_twice(self, node: cst.Call, frame: Frame) -> None:
        """Mark a call of something unknown that has the name of a module: the file binds it again."""
        path = dotted(node.func).split(".")
        first, last = path[0], path[-1]
        is_of_file = first in frame.analysis.scope.seen and frame.lookup(first) is None
        if is_of_file and last in self.classes.names:
            frame.mark(node, f"`{last}` is bound more than once: which one it is, is not known")

    def _linen(self, callee: Ref, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        if is_transform(callee.name):
            return _transform(callee.name, passed, node)
        if is_refused(callee.name):
            frame.mark(node, f"`nn.{callee.name.rpartition('.')[2]}` is not migrated")
            return UNKNOWN
        if callee.name == f"{LINEN}.merge_param":
            return self.variables.merge_param(passed, node, frame)
        if callee.name == f"{LINEN}.share_scope":
            return share_scope(passed, node, frame)
        if callee.name == NORMALIZE:
            return self.variables.normalizing.call(passed, node, frame)
        if callee.name in WITH_AXES:
            return self.variables.with_axes(callee.name, passed, node, frame)
        if find_layer(callee.name) is not None:
            return self.submodules.construct(callee, passed, node, frame)
        if any(isinstance(one.value, SelfValue) for one in passed):
            message = f"`{code_of(node.func)}` of Linen may declare variables of the module"
            frame.mark(node, message, COUNTERPART)
        args, keywords = _split(passed)
        for name in sorted(
            _ONLY_LINEN.get(callee.name.rpartition(".")[2], frozenset()) & {*keywords}
        ):
            message = f"`{code_of(node.func)}` of NNX has no argument `{name}`"
            frame.mark(node, message, COUNTERPART)
        return _shape_call(shapes.function_result(callee.name, args, keywords))

    def _external(self, name: str, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        if name == "functools.partial" and passed and not passed[0].keyword:
            return _partial(passed)
        if is_transform_of_jax(name) and all(one.keyword for one in passed):
            return Partial(Ref(name), (), {one.keyword: one for one in passed})
        if passed and not passed[0].keyword and not any(one.star for one in passed):
            args, keywords = _split(passed[1:])
            transformed = under_transform(name, passed[0].value, args, keywords)
            if transformed is not None:
                return transformed
        looped = self.looped_functions.call(name, passed, node, frame)
        if looped is not None:
            return looped
        if name == "builtins.getattr" and isinstance(passed[0].value, Ref):
            return self._function_by_name(passed[0].value, passed[1:], node, frame)
        if name in _OVER_TREES and len(passed) == 2 and isinstance(passed[1].value, Array):
            return self.dispatch(passed[0].value, passed[1:], node, frame)
        if name in ("builtins.getattr", "builtins.setattr"):
            return UNKNOWN
        if name == "builtins.hasattr":
            return self.members.has(passed, frame)
        args, keywords = _split(passed)
        if any(one.star for one in passed):
            return UNKNOWN
        if _OUTPUT.fullmatch(name) and next(iter(keywords), "") in _FIRST_FIELDS and not args:
            return Table(dict[object, Value](keywords.items()), name)
        if name == "builtins.isinstance" and len(args) == 2:
            outcome = instance_of(*args, believes=not frame.records)
            return UNKNOWN if outcome is None else Const(outcome)
        if name == "builtins.dict" and all(isinstance(one, Table) for one in args):
            tables = [one.items for one in args if isinstance(one, Table)]
            merged: dict[object, Value] = {}
            for table in tables:
                merged.update(table)
            for key, one in keywords.items():
                merged[key] = one
            return Table(merged)
        found = self.sized_lists.over(name, node, frame)
        if found is None:
            found = over_values(name, args, frame.recorder)
        if found is None:
            found = over_arrays(name, args, keywords)
        if found is not None:
            return found
        found = shapes.function_result(name, args, keywords)
        given = [*args, *keywords.values()]
        number = computed_number(self.code, name, given, node, frame)
        if number is None and isinstance(found, Const) and name.startswith(("numpy.", "math.")):
            return spelled(self.code, found, node, frame)
        return number or _shape_call(found)

    def _function_by_name(
        self, module: Ref, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what `getattr` gives of a module: an activation, where a setting says which."""
        match passed:
            case [Passed(value=Const(value=str() as name))]:
                return Ref(f"{module.name}.{name}")
            case [_, *default] if module.name in _OF_ACTIVATIONS:
                options = (*_ACTIVATIONS, *(one.value for one in default))
                return self.merging.one_of_callables(options, node, frame) or UNKNOWN
        return UNKNOWN

    def _method(
        self, callee: BoundMethod, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        match callee.receiver:
            case SelfValue() as instance if callee.method is not None:
                if callee.name == "setup" and frame.method and frame.method.name == "setup":
                    return self.parent_setup(instance, callee.method, node, frame)
                method = callee.method

                def run() -> Value:
                    return self.functions.call_method(instance, method, passed, node, frame)

                is_only_called = frame.root == "setup" or self.classes.is_only_called(method)
                return built_at(node, method.node, run, frame) if is_only_called else run()
            case SelfValue() as instance:
                return self.variables.call(instance, callee.name, passed, node, frame)
            case ModuleValue() | FieldModule():
                return self.module_calls.call(callee.receiver, callee.name, passed, node, frame)
            case Table(cls=ProjectClass() as cls) if callee.name in cls.methods:
                return UNKNOWN
            case Table(items=items) if callee.name == "get" and 0 < len(passed) < 3:
                found = item_or_default(items, [one.value for one in passed])
                choice = self.merging.one_of_callables(found, node, frame)
                if choice is None and len(found) > 1 and any(map(is_class, found)):
                    mark_classes(node, frame)
                return found[0] if len(found) == 1 else choice or UNKNOWN
            case Seq() | Repeated() | Table():
                return self._container(callee.receiver, callee.name, passed, node, frame)
            case VariableValue():
                return UNKNOWN
        return UNKNOWN

    def _container(
        self, receiver: Value, name: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a method of a list or dict returns."""
        if isinstance(receiver, SizedList):
            found = self.sized_lists.method(receiver, name, node, frame)
            if found is not None:
                return found
        join = self.merging.joined
        return container_method(receiver, name, passed, frame, lambda a, b: join(a, b, frame))

    def _function(
        self, callee: FunctionRef, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        is_open = any(one.star for one in passed)
        if is_open or callee.code.startswith("self."):
            self._check_given(passed, node, frame)
        if is_open:
            return UNKNOWN
        if frame.records and any(map(_may_be_none, passed)):
            asked = asked_in(node, callee)
            if asked is not None:
                self.code.asked.setdefault(node, asked)
        if frame.records and node in self.code.asked:
            return self.evaluate(self.code.asked[node], frame)

        def run() -> Value:
            return self.functions.call_function(callee, passed, frame, node)

        is_here = frame.root == "setup" or _is_local(callee)
        found = built_at(node, callee.node, run, frame) if is_here else run()
        if isinstance(found, OneOf) and callee.code:
            return self.merging.one_of_callables(found.options, node, frame) or found
        if isinstance(found, (Code, Unknown)) and frame.records and self._names_class(callee):
            return replace(found, made=Made(node))
        return found

    def _names_class(self, function: FunctionRef) -> bool:
        """Whether a function names a class of modules, which it may return."""
        named = of_kinds(descendants(function.node.body), cst.Name, cst.Attribute)
        return any(
            is_class(self.evaluate(one, function.frame))
            for one in named
            if isinstance(one, cst.Name | cst.Attribute)
        )

    @staticmethod
    def _check_classes(name: str, passed: list[Passed], node: cst.Call, frame: Frame) -> None:
        """Mark a call that gives a class of modules to a library which is not known to build none."""
        is_known = name.partition(".")[0] in _NO_BUILDERS
        if frame.records and not is_known and any(is_class(one.value) for one in passed):
            frame.recorder.mark(node, f"what `{code_of(node.func)}` builds is not known")

    @staticmethod
    def _check_given(passed: list[Passed], node: cst.Call, frame: Frame) -> None:
        """Mark a call that gives the module to a function: what it declares there is not known."""
        if frame.records and any(isinstance(one.value, SelfValue) for one in passed):
            code = code_of(node.func)
            frame.recorder.mark(
                node, f"what `{code}` builds in this module is not known: write it as a method"
            )

    @staticmethod
    def _check_made(made: Made | None, frame: Frame) -> None:
        """Mark a call of which nothing is known but that what it returned is called."""
        if made is None or not frame.records:
            return
        if made.cls:
            frame.recorder.mark(made.call, of_elsewhere(made.cls), COUNTERPART)
            return
        function = made.call.func
        is_field = isinstance(function, cst.Attribute)
        how = "give the field a default, or construct it in the project"
        how = how if is_field else "construct it where it is called"
        message = f"what `{code_of(function)}` builds is not known: {how}"
        frame.recorder.mark(made.call, message)


_NO_BUILDERS: Final = frozenset({"builtins", "dataclasses", "functools", "inspect", "typing"})
# A setting that names a function of one of these modules names an activation: two stand for all.
_OF_ACTIVATIONS: Final = frozenset({"jax.nn", LINEN, f"{LINEN}.activation", "flax.nnx"})
_OVER_TREES: Final = frozenset({"jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"})
_ACTIVATIONS: Final = (Ref("jax.nn.relu"), Ref("jax.nn.tanh"))


def _made_elsewhere(name: str, node: cst.Call) -> Unknown:
    """Return what a call of something of another package returns, which may be a module."""
    package, _, rest = name.partition(".")
    last = rest.rpartition(".")[2]
    is_known = package in _NO_BUILDERS or package in ("flax", "jax", "numpy", "typed_nnx")
    if is_known or not rest or _ACTIVATION.search(last.lower()):
        return UNKNOWN
    return Unknown(made=Made(node, name if last[0].isupper() else ""))


def _has_array(passed: list[Passed]) -> bool:
    """Whether a call may be given an array, as an activation is."""
    return any(isinstance(one.value, Array | Unknown | Repeated | Seq) for one in passed)


def _may_be_none(one: Passed) -> bool:
    return isinstance(one.value, Array) and one.value.is_optional


def _activated(code: str, passed: list[Passed], node: cst.Call) -> Array | None:
    """Return what something unknown makes of an array where its name is that of an activation."""
    held = code.partition("[")[0].rpartition(".")[2]  # `self.activations[i]` is one of a list
    names = (held, dotted(node.func).rpartition(".")[2])
    match passed:
        case [Passed(value=Array() as array)] if any(
            _ACTIVATION.search(name.lower()) for name in names
        ):
            return array
    return None


def _needs_arguments(module: FieldModule) -> bool:
    """Whether the module that a field is said to hold may not be called without arguments."""
    match module.default:
        case ClassRef(cls=cls):
            method = cls.method("__call__")
            return method is not None and any(one.default is None for one in method.parameters())
        case Unknown():
            return True
    return False


def _is_local(function: FunctionRef) -> bool:
    """Whether a method defines a function, just to call it."""
    method = function.frame.method if function.frame.records else None
    return method is not None and local_definition(function.node, method.node) is not None


def _opaque(code: str, passed: list[Passed], node: cst.Call) -> Value:
    """Return what a call of something unknown returns: an activation keeps the shape."""
    known = _activated(code, passed, node)
    if known is not None:
        return known
    made = Made(node) if code.startswith("self.") or code.endswith("]") else None
    return Unknown(f"what `{code}` returns", made=made)


def _shape_call(value: Value | None) -> Value:
    return UNKNOWN if value is None else value


def _split(passed: list[Passed]) -> tuple[list[Value], dict[str, Value]]:
    args = [
        shapes.Starred(one.value) if one.star == "*" else one.value
        for one in passed
        if not one.keyword
    ]
    keywords = {one.keyword: one.value for one in passed if one.keyword}
    return args, keywords


def _partial(passed: list[Passed]) -> Value:
    function, *others = passed
    if any(one.star for one in others):
        return UNKNOWN
    args = tuple(one for one in others if not one.keyword)
    keywords = {one.keyword: one for one in others if one.keyword}
    match function.value:
        case Partial(function=inner, args=first, keywords=given, code=""):
            return Partial(inner, (*first, *args), {**given, **keywords})
    return Partial(function.value, args, keywords)


def _transform(name: str, passed: list[Passed], node: cst.Call) -> Value:
    """Return a class or function under a transform of Linen."""
    first = passed[0] if passed and not passed[0].keyword and not passed[0].star else None
    function = first or next((one for one in passed if one.keyword == "target"), None)
    if function is None:
        return UNKNOWN
    others = [one for one in passed if one is not function]
    return ClassTransform(
        name,
        function.value,
        tuple(one for one in others if not one.keyword),
        tuple(one for one in others if one.keyword),
        node,
    )
