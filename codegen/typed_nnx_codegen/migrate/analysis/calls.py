"""What calls give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis import nnx_classes, transforms
from typed_nnx_codegen.migrate.analysis.annotations import Annotations
from typed_nnx_codegen.migrate.analysis.builtin_calls import builtin_result
from typed_nnx_codegen.migrate.analysis.members import (
    ancestry,
    derives,
    element_of,
    item_of,
    item_of_dict,
    member_of,
    nnx_name,
    state_item,
)
from typed_nnx_codegen.migrate.analysis.nnx_calls import method_special, special_result
from typed_nnx_codegen.migrate.analysis.object_contents import Argument, made_of, method_of_plain
from typed_nnx_codegen.migrate.analysis.parameters import pass_arguments
from typed_nnx_codegen.migrate.analysis.tree_leaves import (
    TREE_LEAVES,
    TREE_MAPS,
    leaf_by_test,
    leaves,
)
from typed_nnx_codegen.migrate.analysis.type_texts import value_of
from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    NOTHING,
    UNKNOWN,
    Array,
    Collection,
    Constant,
    Evaluate,
    External,
    Instance,
    Method,
    OneOf,
    Plain,
    ProjectClass,
    ProjectFunction,
    Scope,
    Value,
    Wrapped,
    join,
    without_none,
)

_ARRAY_MODULES: Final = frozenset(
    {
        "jax.lax",
        "jax.nn",
        "jax.nn.initializers",
        "jax.numpy",
        "jax.numpy.linalg",
        "jax.random",
        "numpy",
    }
)
_ARRAY_FUNCTIONS: Final = frozenset({"jax.device_put", "jax.block_until_ready"})
_COPIES: Final = frozenset({"copy.copy", "copy.deepcopy"})
_CASTS: Final = frozenset({"typing.cast", "typing_extensions.cast"})


class Calls:
    """Says what calls give.

    Args:
        module: The scope of the module of the calls.
        evaluate: Evaluates an expression.
        annotations: Reads annotations.
    """

    def __init__(
        self,
        module: Scope,
        evaluate: Evaluate,
        annotations: Annotations,
    ) -> None:
        self._module = module
        self._evaluate = evaluate
        self._annotations = annotations

    def result(
        self, callee: Value, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        """Return what a call gives, and remember what it passes to functions of the project."""
        match callee:
            case OneOf():
                known = without_none(callee)
                options = known.options if isinstance(known, OneOf) else (known,)
                return join(*(self.result(option, arguments, node, scope) for option in options))
            case External():
                return self._external(callee, arguments, node, scope)
            case ProjectClass():
                return self._object(callee, arguments, node)
            case ProjectFunction():
                pass_arguments(
                    callee, arguments, skip=callee.owner is not None and _is_bound(callee)
                )
                return callee.result
            case Wrapped():
                return self._wrapped(callee, arguments, node, scope)
            case Method():
                return self._method(callee, arguments, node, scope)
            case Instance():
                return self._call_of_object(callee, arguments, node, scope)
            case Array():
                return ARRAY
            case _:
                self._let_go(arguments)
                return NOTHING if callee == NOTHING else UNKNOWN

    def subscript(self, receiver: Value, keys: list[Value]) -> Value:
        """Return what a subscript gives."""
        key = keys[0] if len(keys) == 1 else UNKNOWN
        match receiver:
            case OneOf():
                known = without_none(receiver)
                options = known.options if isinstance(known, OneOf) else (known,)
                return join(*(self.subscript(option, keys) for option in options))
            case External() | ProjectClass():
                return receiver  # a generic class with its arguments
            case Array():
                return ARRAY
            case Collection(kind="dict"):
                return item_of_dict(receiver, key)
            case Collection():
                if key == Plain("slice"):
                    return Collection(receiver.kind, None, receiver.element)
                index = key.value if isinstance(key, Constant) else None
                return item_of(receiver, index if isinstance(index, int) else None, None)
            case Instance():
                return self._item_of_object(receiver, key)
            case _:
                return NOTHING if receiver == NOTHING else UNKNOWN

    def _item_of_object(self, receiver: Instance, key: Value) -> Value:
        if derives(receiver, "State"):
            return state_item(receiver, key)
        if derives(receiver, "Variable"):
            return ARRAY
        if derives(receiver, "List", "Dict", "Sequential"):
            if key == Plain("slice"):
                return Collection("list", None, receiver.of)
            is_mapping = derives(receiver, "Dict") and isinstance(receiver.of, Collection)
            return self.subscript(receiver.of, [key]) if is_mapping else receiver.of
        member = member_of(receiver, "__getitem__")
        if isinstance(member, Method):
            return self._method(member, (), None, self._module)
        return UNKNOWN

    # -- names of other packages --------------------------------------------------------------

    def _external(
        self, callee: External, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        name = callee.public
        values = [argument.value for argument in arguments if not argument.keyword]
        if name.startswith("nnx."):
            return self._nnx(name, arguments, node, scope)
        if transforms.is_transform(name):
            return self._transform(name, arguments, node, scope)
        module, _, last = name.rpartition(".")
        if module == "builtins":
            if last == "map" and len(values) > 1:
                items = [Argument(element_of(value)) for value in values[1:]]
                return Collection("list", None, self.result(values[0], items, node, scope))
            self._let_go(arguments)
            named = {a.keyword: a.value for a in arguments if a.keyword or a.star}
            return builtin_result(last, values, scope, named)
        if name in _COPIES and values:
            return values[0]
        if name in _CASTS and len(values) == 2 and arguments[0].node is not None:
            said = self._annotations.read(arguments[0].node, scope)
            return said if said != UNKNOWN else values[1]
        if name in TREE_LEAVES:
            return leaves(name, arguments, self._evaluate, scope)
        self._let_go(arguments)
        if name.startswith("flax.linen.") and last[:1].isupper():
            return Instance(name, UNKNOWN, node)
        is_of_arrays = module in _ARRAY_MODULES and last[:1].islower()
        return ARRAY if is_of_arrays or name in _ARRAY_FUNCTIONS else UNKNOWN

    def _nnx(
        self, name: str, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        values = [argument.value for argument in arguments if not argument.keyword]
        short = name[4:]
        cls = nnx_classes.class_of(short)
        if transforms.is_transform(name):
            return self._transform(name, arguments, node, scope)
        if cls is not None:
            self._let_go(arguments)
            return Instance(f"nnx.{cls}", made_of(cls, arguments), node)
        special = special_result(short, values, arguments)
        if special is not None:
            return special
        text = nnx_classes.function_result(short)
        self._let_go(arguments)
        return value_of(text, UNKNOWN, values) if text is not None else UNKNOWN

    def _transform(
        self, name: str, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        by_position = [argument for argument in arguments if not argument.keyword]
        keywords = tuple(argument.keyword for argument in arguments if argument.keyword)
        if name in transforms.CALLING:
            return self._calling(name, arguments, node, scope)
        function = by_position[0].value if by_position else _function_keyword(arguments)
        if function is None:
            # As an import spells it: a package that is called nnx itself is another one.
            spelled = f"flax.{name}" if name.startswith("nnx.") else name
            return Wrapped(External(spelled), "functools.partial", 0, keywords)
        if name != "functools.partial":
            return Wrapped(function, name)
        if len(by_position) > 1:
            self._pass(function, by_position[1:])
        return Wrapped(function, name, len(by_position) - 1, keywords)

    def _calling(
        self, name: str, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        """Return what a transform gives that calls its functions at once: `cond`, `tree.map`."""
        plan = transforms.CALLING[name]
        given = [argument.value for argument in arguments if not argument.keyword]
        passed = [Argument(value) for value in plan.passed(given)]
        if name in TREE_MAPS:
            leaf = leaf_by_test(arguments, self._evaluate, scope)
            passed = [Argument(leaf)] * len(passed)
        results = [
            self.result(given[position], passed, node, scope)
            for position in plan.functions
            if position < len(given)
        ]
        return plan.result(given, results)

    def _wrapped(
        self, callee: Wrapped, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        if callee.by == "functools.partial":
            given = [Argument(NOTHING)] * callee.given
            return self.result(callee.function, [*given, *arguments], node, scope)
        result = self.result(callee.function, arguments, node, scope)
        values = [argument.value for argument in arguments if not argument.keyword]
        return transforms.result_under(callee.by, result, values)

    # -- objects ------------------------------------------------------------------------------

    def _object(
        self, cls: ProjectClass, arguments: Sequence[Argument], node: cst.Call | None
    ) -> Value:
        found, _ = ancestry(cls)
        has_init = False
        for base in found:
            if isinstance(base, ProjectClass) and "__init__" in base.methods:
                pass_arguments(base.methods["__init__"], arguments, skip=True)
                has_init = True
                break
        of: Value = UNKNOWN
        if "Sequential" in found or "List" in found or "Dict" in found:
            of = made_of("Sequential" if "Sequential" in found else "List", arguments)
        elif "Variable" in found and not has_init:
            of = made_of("Variable", arguments)
        self._let_go(arguments)
        return Instance(cls, of, node)

    def _method(
        self, callee: Method, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        if callee.function is not None:
            through_class = isinstance(callee.receiver, ProjectClass)
            is_class_method = "builtins.classmethod" in callee.function.decorators
            skip = _is_bound(callee.function) and (is_class_method or not through_class)
            pass_arguments(callee.function, arguments, skip=skip)
            return callee.function.result
        values = [argument.value for argument in arguments if not argument.keyword]
        receiver = callee.receiver
        if isinstance(receiver, (Array, Collection, Constant, Plain)):
            return method_of_plain(receiver, callee.name, values)
        special = method_special(receiver, callee.name, len(values))
        if special is not None:
            return special
        bases = _ancestry_of(receiver)
        if isinstance(receiver, ProjectClass):
            receiver = Instance(receiver, UNKNOWN, node)
        for base in bases:
            known = nnx_classes.known_class(base) if isinstance(base, str) else None
            if known is not None and callee.name in known.methods:
                return value_of(known.methods[callee.name], receiver, values)
        return UNKNOWN

    def _call_of_object(
        self, callee: Instance, arguments: Sequence[Argument], node: cst.Call | None, scope: Scope
    ) -> Value:
        member = member_of(callee, "__call__")
        if isinstance(member, Method):
            return self._method(member, arguments, node, scope)
        self._let_go(arguments)
        return UNKNOWN

    # -- functions that are handed on ---------------------------------------------------------

    def _let_go(self, arguments: Sequence[Argument]) -> None:
        """Note that functions among arguments may be called by something unknown."""
        for argument in arguments:
            value = argument.value
            while isinstance(value, Wrapped):
                value = value.function
            if isinstance(value, ProjectFunction):
                value.escapes = True

    @staticmethod
    def _pass(function: Value, arguments: Sequence[Argument]) -> None:
        if isinstance(function, ProjectFunction):
            pass_arguments(function, arguments, skip=False)


def _ancestry_of(receiver: Value) -> list[ProjectClass | str]:
    if isinstance(receiver, Instance):
        return ancestry(receiver.cls)[0]
    if isinstance(receiver, ProjectClass):
        return ancestry(receiver)[0]
    if isinstance(receiver, External) and nnx_name(receiver):
        return ancestry(receiver.public)[0]
    return []


def _is_bound(function: ProjectFunction) -> bool:
    """Whether calls give the first parameter of a method by themselves."""
    return function.owner is not None and "builtins.staticmethod" not in function.decorators


def _function_keyword(arguments: Sequence[Argument]) -> Value | None:
    for argument in arguments:
        if argument.keyword in {"f", "fun", "func"}:
            return argument.value
    return None
