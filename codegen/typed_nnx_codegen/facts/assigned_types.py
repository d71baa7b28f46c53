"""The types of all that classes assign to their attributes, kept in the classes.

For an attribute without an annotation mypy has one type, that of its first assignment, and of a
mixed list of layers it says that they are Modules. When mypy has checked a file, `keep_types` puts
the types of all that is assigned into the symbols of the class: mypy's cache has them then, and they
hold exactly as long as that does. `fields` uses them where they were kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mypy import nodes, types
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    DictExpr,
    Expression,
    IndexExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    RefExpr,
    StarExpr,
    SymbolTable,
    TupleExpr,
    TypeInfo,
    Var,
)
from mypy.types import AnyType, Instance, Type, UnionType, get_proper_type

from typed_nnx_codegen.facts.assigned import File
from typed_nnx_codegen.facts.children import Tree, forget
from typed_nnx_codegen.facts.internals import has_erased_component, set_fullname
from typed_nnx_codegen.facts.kinds import runtime_base
from typed_nnx_codegen.facts.marks import methods_of, self_name_of
from typed_nnx_codegen.facts.values import mark_in_call

_PLAIN: Final = ("builtins.list", "builtins.dict")
_ADDING: Final = {"append": 0, "insert": 1}
# Private, so that mypy does not compare it with the one of a base.
_KEPT: Final = "__nnx_assigned_"
_ORDER: Final = "typed_nnx_order"


def assigned_type(info: TypeInfo, name: str) -> Type | None:
    """Return the type of all that a class assigns to an attribute; None where it was not kept."""
    symbol = info.names.get(f"{_KEPT}{name}")
    return symbol.node.type if symbol is not None and isinstance(symbol.node, Var) else None


def has_kept_types(info: TypeInfo) -> bool:
    """Tell whether the types of what a class assigns were kept."""
    return _ORDER in info.metadata


def order_of(info: TypeInfo) -> int:
    """Return the place of a class among those of its file, where it was kept."""
    order: int = info.metadata.get(_ORDER, {}).get("order", 0)
    return order


def classes_of(tree: MypyFile) -> list[TypeInfo]:
    """Return the classes of a file, those in other classes too, in the order of their names."""
    return list(_classes_in(tree.names, tree.fullname))


def _classes_in(names: SymbolTable, above: str) -> Iterator[TypeInfo]:
    for name, symbol in sorted(names.items()):
        node = symbol.node
        # The name of one in a function has an "@"; any other is that of an alias.
        if isinstance(node, TypeInfo) and node.fullname == f"{above}.{name}" and "@" not in name:
            yield node
            yield from _classes_in(node.names, node.fullname)


def keep_types(tree: MypyFile, known: Callable[[Expression], Type | None]) -> None:
    """Keep the types of what the classes of a file assign to their attributes.

    Args:
        tree: The file, after mypy has checked it.
        known: Returns mypy's types of expressions.
    """
    file = File(Tree(tree))
    put_in = [pair for node in file.nodes for pair in put_in_by(node)]
    for order, info in enumerate(sorted(classes_of(tree), key=lambda info: info.defn.line)):
        # No line: other files would be checked anew whenever one is added above.
        info.metadata[_ORDER] = {"order": order}
        assigned = _assigned_in(info.defn, file, put_in)
        for name, found in _Class(info, known).types(assigned).items():
            kept = Var(f"{_KEPT}{name}", found)
            kept.info = info
            set_fullname(kept, f"{info.fullname}.{kept.name}")
            kept.is_classvar = True
            info.names[kept.name] = nodes.SymbolTableNode(nodes.MDEF, kept, plugin_generated=True)
    forget()


@dataclass
class _Assigned:
    """What the methods of a class give one attribute.

    Attributes:
        values: What is assigned; None where it cannot be seen.
        put_in: What is put into it, a container.
    """

    values: list[Expression | None] = field(default_factory=list[Expression | None])
    put_in: list[Expression] = field(default_factory=list[Expression])


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
            if own(each.owner) and isinstance(
                each.node, AssignmentStmt | nodes.ForStmt | nodes.WithStmt
            ):
                inner = each.inner()
                found[name].values.append(None if inner.items else inner.value)
    for target, value in put_in:
        if name := own(target):
            found[name].put_in.append(value)
    return found


def put_in_by(node: Node) -> Iterator[tuple[Expression, Expression]]:
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

    def __init__(self, info: TypeInfo, known: Callable[[Expression], Type | None]) -> None:
        self._info = info
        self._known = known

    def types(self, found: Mapping[str, _Assigned]) -> dict[str, Type]:
        """Return the types of what is assigned to attributes, where mypy may have another one."""
        types = {name: self._type(name, each) for name, each in found.items() if each.values}
        return {name: each for name, each in types.items() if each is not None}

    def _type(self, name: str, assigned: _Assigned) -> Type | None:
        own = self._info.names.get(name)
        node = own.node if own is not None and isinstance(own.node, Var) else None
        inferred = _storable(node.type) if node is not None else None
        put_in = self._united(assigned.put_in)
        return _union(
            self._filled(inferred if each is None else self._type_of(each), inferred, put_in)
            for each in assigned.values
        )

    def _filled(
        self, found: Type | None, inferred: Type | None, put_in: Type | None
    ) -> Type | None:
        """Return the type of a container that was empty when it was assigned."""
        if found is not None and not _is_vague(found):
            return found
        proper = get_proper_type(found)
        if put_in is not None and isinstance(proper, Instance) and _is_container(proper):
            return _holding(proper, put_in)
        return found if inferred is None or _is_vague(inferred) else inferred

    # -- expressions --------------------------------------------------------------------------

    def _united(self, values: Iterable[Expression]) -> Type | None:
        return _union(map(self._type_of, values))

    def _type_of(self, value: Expression) -> Type | None:
        """Return the type of an expression, of mixed lists more precisely than mypy has it."""
        if isinstance(value, nodes.ConditionalExpr):
            return self._united((value.if_expr, value.else_expr))
        if isinstance(value, CallExpr) and mark_in_call(value) and value.arg_names[:1] == [None]:
            return self._type_of(value.args[0])
        found = get_proper_type(_storable(self._known(value)))
        if isinstance(found, AnyType) and isinstance(value, RefExpr) and _is_dtype(value):
            return types.TypeType(found)  # the stubs of jax call it Any
        if not isinstance(found, Instance) or not found.args:
            return found
        items = self._united(_elements(value, found))
        return found if items is None else _holding(found, items)


def _storable(found: Type | None) -> Type | None:
    """Return a type as mypy's cache can have it; None for what is no type of a value."""
    proper = get_proper_type(found)
    if proper is None or isinstance(proper, types.PartialType | types.DeletedType):
        return None
    if isinstance(proper, types.UninhabitedType) or has_erased_component(proper):
        return None
    if isinstance(proper, Instance) and proper.last_known_value is not None:
        return Instance(proper.type, proper.args)
    return proper


def _union(found: Iterable[Type | None]) -> Type | None:
    """Return the union of types, in their order; None of none."""
    items = list(dict.fromkeys(get_proper_type(each) for each in found if each is not None))
    return UnionType.make_union(items) if items else None


def _is_vague(found: Type) -> bool:
    """Tell whether a type says nothing about a part of it, as that of an empty list does."""
    match get_proper_type(found):
        case Instance(args=inner):
            return any(map(_is_vague, inner))
        case UnionType(items=inner) | types.TupleType(items=inner):
            return any(map(_is_vague, inner))
        case AnyType() | types.UninhabitedType():
            return True
        case _:
            return False


def _holding(container: Instance, items: Type) -> Instance:
    """Return the type of a list or a dict with other items."""
    return Instance(container.type, [*container.args[:-1], items])


def _is_container(found: Instance) -> bool:
    return found.type.fullname in _PLAIN or bool(_own_container(found))


def _own_container(found: Instance) -> str:
    """Return "List" or "Dict" for an object of just that class of a runtime."""
    is_own = found.type is runtime_base(found.type, "List", "Dict")
    return found.type.name if is_own else ""


def _elements(value: Expression, found: Instance) -> list[Expression]:
    """Return the elements that a list or dict is made of, if all can be seen."""
    if isinstance(value, CallExpr) and _is_container(found):
        if len(value.args) == 1 and value.arg_names == [None]:
            return _items(value.args[0])
        return value.args if _own_container(found) == "Dict" and all(value.arg_names) else []
    return [] if isinstance(value, TupleExpr) else _items(value)


def _items(value: Expression) -> list[Expression]:
    if isinstance(value, ListComprehension):
        return [value.generator.left_expr]
    if isinstance(value, DictExpr):
        return [] if any(key is None for key, _ in value.items) else [v for _, v in value.items]
    if isinstance(value, ListExpr | TupleExpr):
        return [] if any(isinstance(each, StarExpr) for each in value.items) else value.items
    return []


def _is_dtype(value: RefExpr) -> bool:
    module = value.fullname.rpartition(".")[0]
    return module == "jax.numpy"
