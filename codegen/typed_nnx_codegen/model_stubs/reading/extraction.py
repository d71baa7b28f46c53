"""Statements and mypy's types of expressions, as facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mypy.nodes import (
    CallExpr,
    ConditionalExpr,
    DictExpr,
    Expression,
    ListComprehension,
    ListExpr,
    RefExpr,
    StarExpr,
    TupleExpr,
    TypeInfo,
    Var,
)
from mypy.types import Type as MypyType

from typed_nnx_codegen.model_stubs.models import Named, Static, Type, Unknown
from typed_nnx_codegen.model_stubs.reading.facts import AttributeFacts, ClassFacts, ModuleFacts
from typed_nnx_codegen.model_stubs.reading.marks import marked_value
from typed_nnx_codegen.model_stubs.reading.statements import ClassStatements, Said
from typed_nnx_codegen.model_stubs.reading.type_facts import (
    NOTHING,
    is_vague,
    name_of,
    parameters_of,
    type_fact,
    united,
)

_PLAIN = ("builtins:list", "builtins:dict")


class Extraction:
    """Turns the statements of classes into facts.

    Args:
        types: mypy's types of expressions.
        runtime: The package that the models are made with.
    """

    def __init__(self, types: Mapping[Expression, MypyType], runtime: str) -> None:
        self._types = types
        self._package = runtime.partition(".")[0]

    def facts(self, classes: Iterable[ClassStatements]) -> ModuleFacts:
        """Return the facts of the classes of a module."""
        return {
            name_of(each.info).partition(":")[2]: self._class_facts(each)
            for each in classes
            if "@" not in each.info.fullname
        }

    def _class_facts(self, found: ClassStatements) -> ClassFacts:
        by_name: defaultdict[str, list[Said]] = defaultdict(list)
        for said in found.said:
            by_name[said.name].append(said)
        attributes = [
            self._attribute(name, said, found.info)
            for name, said in by_name.items()
            # A default of the class, or something put into an inherited container, is no attribute.
            if not all(each.default or each.element for each in said)
        ]
        return ClassFacts(found.line, tuple(attributes), found.plain, found.is_open)

    def _attribute(self, name: str, said: Sequence[Said], info: TypeInfo) -> AttributeFacts:
        parameters = frozenset(parameters_of(info))
        mark = next((each.mark for each in said if each.mark), "")
        fact = AttributeFacts(name, min(each.line for each in said), mark=mark)
        annotation = next((each.annotation for each in said if each.annotation), None)
        if annotation is not None:
            return replace(fact, declared=type_fact(annotation, parameters))
        assigned = [each for each in said if not each.element]
        own = info.names.get(name)
        known = own.node.type if own is not None and isinstance(own.node, Var) else None
        inferred = type_fact(known, parameters) if known is not None else NOTHING
        types = [
            inferred if each.value is None else self.type_of(each.value, parameters)
            for each in assigned
        ]
        put_in = united(
            self.type_of(each.value, parameters) for each in said if each.element and each.value
        )
        types = [self._filled(each, inferred, put_in) for each in types]
        types = [each for each in types if each != NOTHING]
        if not types:
            types = [inferred if inferred != NOTHING else Unknown("no assignment has a type")]
        direct = any(each.direct for each in assigned)
        return replace(fact, assigned=tuple(dict.fromkeys(types)), direct=direct)

    def _filled(self, found: Type, inferred: Type, put_in: Type) -> Type:
        """Return the type of a container that was empty when it was assigned."""
        if not is_vague(found):
            return found
        if put_in != NOTHING and isinstance(found, Named) and self._is_container(found.name):
            return Named(found.name, (*found.arguments[:-1], put_in))
        return found if is_vague(inferred) else inferred

    def _is_container(self, name: str) -> bool:
        return name in _PLAIN or self._is_own(name, "List") or self._is_own(name, "Dict")

    def _is_own(self, name: str, class_name: str) -> bool:
        module, _, last = name.partition(":")
        return last == class_name and module.partition(".")[0] == self._package

    # -- expressions --------------------------------------------------------------------------

    def type_of(self, value: Expression, parameters: frozenset[str]) -> Type:
        """Return the type of an expression, of mixed lists more precisely than mypy has it."""
        if isinstance(value, ConditionalExpr):
            branches = (value.if_expr, value.else_expr)
            return united(self.type_of(each, parameters) for each in branches)
        marked = marked_value(value, self._package)[1]
        if marked is not None:
            return self.type_of(marked, parameters)
        if value not in self._types:
            return NOTHING
        found = type_fact(self._types[value], parameters)
        if isinstance(found, Unknown) and isinstance(value, RefExpr):
            return _of_jax(value) or found
        if not isinstance(found, Named) or not found.arguments:
            return found
        elements = self._elements(value, found)
        if not elements:
            return found
        element = united(self.type_of(each, parameters) for each in elements)
        return Named(found.name, (*found.arguments[:-1], element))

    def _elements(self, value: Expression, found: Named) -> list[Expression]:
        """Return the elements that a list or dict is made of, if all can be seen."""
        if isinstance(value, CallExpr) and self._is_container(found.name):
            if len(value.args) == 1 and value.arg_names == [None]:
                return self._items(value.args[0])
            if self._is_own(found.name, "Dict") and all(value.arg_names):
                return value.args
            return []
        return [] if isinstance(value, TupleExpr) else self._items(value)

    def _items(self, value: Expression) -> list[Expression]:
        if isinstance(value, ListComprehension):
            return [value.generator.left_expr]
        if isinstance(value, DictExpr):
            return [] if any(key is None for key, _ in value.items) else [v for _, v in value.items]
        if isinstance(value, ListExpr | TupleExpr):
            return [] if any(isinstance(each, StarExpr) for each in value.items) else value.items
        return []


def _of_jax(value: RefExpr) -> Type | None:
    """Return what ``jnp.float32`` is: the stubs of jax call it Any."""
    module, _, _ = value.fullname.rpartition(".")
    return Static(value.fullname) if module == "jax.numpy" else None
