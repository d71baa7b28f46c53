"""The types of what classes assign to their attributes, found when mypy has checked a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    ConditionalExpr,
    DictExpr,
    Expression,
    ForStmt,
    IndexExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    RefExpr,
    StarExpr,
    TupleExpr,
    TypeInfo,
    Var,
    WithStmt,
)
from mypy.types import Type as MypyType

from typed_nnx_codegen.facts.assigned import File
from typed_nnx_codegen.facts.children import Tree, forget
from typed_nnx_codegen.facts.marks import methods_of, self_name_of
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_codegen.facts.values import mark_in_call
from typed_nnx_codegen.model_stubs.models import Named, Static, Type, Unknown
from typed_nnx_codegen.model_stubs.reading.symbols import classes_of
from typed_nnx_codegen.model_stubs.reading.type_facts import (
    NOTHING,
    is_vague,
    keep,
    parameters_of,
    type_fact,
    united,
)

_PLAIN = ("builtins:list", "builtins:dict")
_ADDING = {"append": 0, "insert": 1}


def keep_types(tree: MypyFile, known: Callable[[Expression], MypyType | None]) -> None:
    """Keep the types of what the classes of a file assign to their attributes.

    Args:
        tree: The file, after mypy has checked it.
        known: Returns mypy's types of expressions.
    """
    file = File(Tree(tree))
    put_in = [pair for node in file.nodes for pair in _put_in(node)]
    for order, info in enumerate(sorted(classes_of(tree), key=lambda info: info.defn.line)):
        assigned = _assigned_in(info.defn, file, put_in)
        keep(info, order, _Class(info, known).types(assigned))
    forget()


@dataclass
class _Assigned:
    """What the methods of a class give one attribute.

    Attributes:
        values: What is assigned; None where it cannot be seen.
        put_in: What is put into it, a container.
    """

    values: list[Expression | None] = field(default_factory=list)
    put_in: list[Expression] = field(default_factory=list)


def _assigned_in(
    definition: ClassDef, file: File, put_in: list[tuple[Expression, Expression]]
) -> dict[str, _Assigned]:
    """Return what the methods of a class, and the functions in them, give its attributes."""
    owners = {m.arguments[0].variable for m in methods_of(definition) if self_name_of(m)}

    def own(target: Expression | None) -> str:
        match target:
            case MemberExpr(expr=NameExpr(node=owner), name=name) if owner in owners:
                return name
            case _:
                return ""

    found: defaultdict[str, _Assigned] = defaultdict(_Assigned)
    for name, values in file.of_attribute.items():
        for each in values:
            if own(each.owner) and isinstance(each.node, AssignmentStmt | ForStmt | WithStmt):
                inner = each.inner()
                found[name].values.append(None if inner.items else inner.value)
    for target, value in put_in:
        if name := own(target):
            found[name].put_in.append(value)
    return found


def _put_in(node: Node) -> Iterator[tuple[Expression, Expression]]:
    """Yield the containers that a node puts something into, with that."""
    match node:
        case AssignmentStmt(lvalues=targets, rvalue=value):
            yield from ((each.base, value) for each in targets if isinstance(each, IndexExpr))
        case CallExpr(callee=MemberExpr(expr=target, name=name), args=args):
            place = _ADDING.get(name, len(args))
            yield from ((target, each) for each in args[place : place + 1])
        case _:
            pass


class _Class:
    """The types in one class."""

    def __init__(self, info: TypeInfo, known: Callable[[Expression], MypyType | None]) -> None:
        self._info = info
        self._known = known
        self._parameters = frozenset(parameters_of(info))

    def types(self, found: Mapping[str, _Assigned]) -> dict[str, Type]:
        """Return the types of what is assigned to attributes, where mypy may have another one."""
        types = {name: self._type(name, each) for name, each in found.items() if each.values}
        return {name: each for name, each in types.items() if each != NOTHING}

    def _type(self, name: str, assigned: _Assigned) -> Type:
        own = self._info.names.get(name)
        node = own.node if own is not None and isinstance(own.node, Var) else None
        inferred = NOTHING if node is None else type_fact(node.type, self._parameters)
        put_in = self._united(assigned.put_in)
        return united(
            self._filled(inferred if each is None else self._type_of(each), inferred, put_in)
            for each in assigned.values
        )

    def _filled(self, found: Type, inferred: Type, put_in: Type) -> Type:
        """Return the type of a container that was empty when it was assigned."""
        if not is_vague(found):
            return found
        if put_in != NOTHING and isinstance(found, Named) and _is_container(found.name):
            return Named(found.name, (*found.arguments[:-1], put_in))
        return found if is_vague(inferred) else inferred

    # -- expressions --------------------------------------------------------------------------

    def _united(self, values: Iterable[Expression]) -> Type:
        return united(map(self._type_of, values))

    def _type_of(self, value: Expression) -> Type:
        """Return the type of an expression, of mixed lists more precisely than mypy has it."""
        if isinstance(value, ConditionalExpr):
            return self._united((value.if_expr, value.else_expr))
        if isinstance(value, CallExpr) and mark_in_call(value) and value.arg_names[:1] == [None]:
            return self._type_of(value.args[0])
        known = self._known(value)
        if known is None:
            return NOTHING
        found = type_fact(known, self._parameters)
        if isinstance(found, Unknown) and isinstance(value, RefExpr):
            return _of_jax(value) or found
        if not isinstance(found, Named) or not found.arguments:
            return found
        elements = _elements(value, found)
        return (
            Named(found.name, (*found.arguments[:-1], self._united(elements)))
            if elements
            else found
        )


def _is_container(name: str) -> bool:
    return name in _PLAIN or _is_own(name, "List") or _is_own(name, "Dict")


def _is_own(name: str, class_name: str) -> bool:
    module, _, last = name.partition(":")
    return last == class_name and bool(runtime_of(module))


def _elements(value: Expression, found: Named) -> list[Expression]:
    """Return the elements that a list or dict is made of, if all can be seen."""
    if isinstance(value, CallExpr) and _is_container(found.name):
        if len(value.args) == 1 and value.arg_names == [None]:
            return _items(value.args[0])
        if _is_own(found.name, "Dict") and all(value.arg_names):
            return value.args
        return []
    return [] if isinstance(value, TupleExpr) else _items(value)


def _items(value: Expression) -> list[Expression]:
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
