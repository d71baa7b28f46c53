"""The attributes of a Pytree class: their types and whether they are data or static."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mypy import types
from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import Expression, MemberExpr, TypeInfo, Var
from mypy.types import Instance, PartialType, ProperType, get_proper_type

from typed_nnx_codegen.facts.assigned_types import assigned_type, has_kept_types
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.filters import entries_of
from typed_nnx_codegen.facts.kinds import (
    holds_data,
    is_dataclass,
    is_plain_container,
    is_pytree,
    kind_of,
    options,
)
from typed_nnx_codegen.facts.marks import (
    UNSURE,
    Said,
    all_said,
    is_checked,
    marks_of,
    marks_on,
    opening_of,
    sown_type,
)
from typed_nnx_codegen.facts.names import runtime_of

Status: TypeAlias = Literal["data", "static", "unknown"]

# The runtimes' classes whose own attributes are in no State.
_BARE: Final = frozenset({"Pytree", "Module", "Object", "List", "Dict", "Rngs"})


@dataclass(frozen=True)
class Field:
    """An attribute of a Pytree, or an item of a container.

    Attributes:
        name: Its name.
        type: Its type.
        status: What it is when its value is not None: "data", "static" or "unknown".
        owner: The last class that speaks of it; the class of a container.
        is_always: Whether each object has it: the ``__init__`` that runs assigns it in any case.
        is_marked: Whether a mark says what it is, and not its value.
        is_ready: Whether mypy has found its type; `type` is Any until then.
        is_of_class: Whether it is a value of the class: objects have it where something assigns it.
        is_exact: Whether its value is surely of the class that its type is, not of one below it.
    """

    name: str
    type: ProperType
    status: Status
    owner: TypeInfo
    is_always: bool = False
    is_marked: bool = False
    is_ready: bool = True
    is_of_class: bool = False
    is_exact: bool = False


@dataclass(frozen=True)
class Model:
    """What is known of the attributes of a Pytree, or of the items of a container.

    Attributes:
        fields: By name, or by position.
        other: What stands at every other key, if something does: the items of a List.
        other_key: The type of those other keys.
        is_open: Whether objects may have attributes that no source names.
    """

    fields: Mapping[str | int, Field]
    other: Field | None = None
    other_key: type[str] | type[int] = str
    is_open: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether mypy has found the types of all fields."""
        return all(each.is_ready for each in self.fields.values())

    def at(self, key: str | int) -> Field | None:
        """Return what stands at a key."""
        is_other = isinstance(key, self.other_key)
        return self.fields.get(key, self.other if is_other else None)


# What was found in the file that was asked from last, in its round: most calls ask for a few classes.
_LAST: Final[list[tuple[object, dict[Instance, Model]]]] = []


def model_of(instance: Instance, checker: Checker) -> Model | None:
    """Return the attributes of a Pytree, inherited ones too; None where it is no Pytree."""
    if not is_pytree(instance.type):
        return None
    depend_on(instance.type, checker)
    if not _LAST or _LAST[0][0] is not checker.round:
        _LAST[:] = [(checker.round, {})]
    known = _LAST[0][1]
    model = known.get(instance)
    if model is None:
        model = attributes_of(instance)
        if model.is_ready:
            known[instance] = model
    return model


def attributes_of(instance: Instance) -> Model:
    """Return the attributes of a Pytree, where nothing is to be checked again when they change."""
    info = instance.type
    fields: dict[str | int, Field] = {}
    for base in reversed(info.mro):
        if not _is_bare(base):
            fields = _kept(fields, base)
            for name, found in _own_fields(base, instance):
                fields[name] = _together(fields.get(name), found)
    fields = {name: _as_last_assigned(each, info) for name, each in fields.items()}
    if any(map(has_kept_types, info.mro)):
        fields = {name: _with_all_types(each, instance) for name, each in fields.items()}
    return Model(
        fields,
        is_open=any(e.fallback_to_any or (not _is_bare(e) and opening_of(e)) for e in info.mro),
    )


def _as_last_assigned(field: Field, info: TypeInfo) -> Field:
    """Return a field without what its value was made with, if a class below assigns another one."""
    found = field.type
    if (
        not isinstance(found, Instance)
        or not entries_of(found)
        or not is_set_again(info, field.name)
    ):
        return field
    return replace(field, type=Instance(found.type, found.args))


def is_set_again(info: TypeInfo, name: str) -> bool:
    """Tell whether a class and a base of it assign an attribute, so that mypy has the type of the base."""
    return sum(each.is_assigned for _, each in all_said(info, name)) > 1


def entries_at(
    expression: Expression | None, found: types.Type | None, checker: Checker
) -> Mapping[str, types.Type]:
    """Return the entries that the object that an expression is was made with, as far as its type says."""
    if isinstance(expression, MemberExpr):
        owner = checker.known_type(expression.expr)
        if isinstance(owner, Instance) and is_set_again(owner.type, expression.name):
            return {}
    return entries_of(found)


def _with_all_types(field: Field, instance: Instance) -> Field:
    """Return a field with the types of all that classes assign to it, where none is declared."""
    info, symbol = instance.type, field.owner.names.get(field.name)
    node = symbol.node if symbol is not None else None
    if not isinstance(node, Var) or node.explicit_self_type or not node.is_inferred:
        return field
    types_: list[types.Type] = [field.type] if field.is_ready else []
    for base in info.mro[info.mro.index(field.owner) :: -1]:
        said = assigned_type(base, field.name)
        if said is None:
            continue
        if base is field.owner or _is_always_assigned(base, field.name):
            types_.clear()  # an earlier value is gone
        types_.append(expand_type_by_instance(said, map_instance_to_supertype(instance, base)))
    found = get_proper_type(types.UnionType.make_union(types_)) if types_ else field.type
    mark = UNSURE if UNSURE in marks_on(info, field.name) else ""
    status = field.status if field.is_marked else _status(found, mark, info)
    return replace(field, type=found, status=status, is_ready=bool(types_))


def _is_always_assigned(base: TypeInfo, name: str) -> bool:
    marks = marks_of(base)
    return marks is not None and name in marks.attributes and marks.attributes[name].is_always


def depend_on(info: TypeInfo, checker: Checker) -> None:
    """Have what is being checked checked again when attributes of a class change.

    mypy's daemon does that for what the syntax names, and so not for the fields of a State.
    """
    for base in info.mro:
        if not runtime_of(base.fullname) and base.fullname != "builtins.object":
            checker.depend_on(base.fullname)


def _is_bare(base: TypeInfo) -> bool:
    """Tell whether a class is a base of all Pytrees, or of no use."""
    if base.fullname == "builtins.object":
        return True
    return bool(runtime_of(base.fullname)) and (base.name in _BARE or not is_pytree(base))


# -- one class --------------------------------------------------------------------------------


def _own_fields(base: TypeInfo, instance: Instance) -> Iterator[tuple[str, Field]]:
    marks = marks_of(base)
    in_dataclass = is_dataclass(base)
    at_base = map_instance_to_supertype(instance, base)
    attributes = marks.attributes if marks is not None else {}

    def place(name: str) -> tuple[int, str]:
        return attributes[name].order if name in attributes else -1, name

    # mypy's cache does not keep the order of the source.
    for name in sorted(base.names, key=place):
        node = base.names[name].node
        # mypy takes the fields of frozen dataclasses for properties.
        if not isinstance(node, Var) or not _is_attribute(node, in_dataclass):
            continue
        said = attributes.get(name)
        found = _type_of(node, at_base)
        if _is_of_class(node, said, in_dataclass):
            if holds_data(found) is not False:
                yield _stored(name, base), Field(name, found, "unknown", base, is_of_class=True)
            continue
        yield _stored(name, base), _field(node, found, base, said, in_dataclass, instance.type)
    for name in marks.recorded if marks is not None else ():
        if instance.type.get(name) is None:
            sown = get_proper_type(sown_type(base, name))
            unknown = types.AnyType(types.TypeOfAny.special_form)
            status: Status = "data" if sown else "unknown"
            yield name, Field(name, sown or unknown, status, base, is_exact=bool(sown))


def _stored(name: str, base: TypeInfo) -> str:
    """Return the name of an attribute as objects have it: that of a private one has the class."""
    return f"_{base.name.lstrip('_')}{name}" if name.startswith("__") else name


def _is_of_class(node: Var, said: Said | None, in_dataclass: bool) -> bool:
    """Tell whether the body of a class gives a name a value and no method of it does."""
    if said is None:
        return node.is_initialized_in_class and node.has_explicit_value
    # Without a dataclass it is a value of the class, unless it is a field specifier.
    is_value = said.has_default and not said.is_assigned
    return is_value and not in_dataclass and not said.mark


def _is_attribute(node: Var, in_dataclass: bool) -> bool:
    if node.is_classvar or (node.name.startswith("__") and node.name.endswith("__")):
        return False
    return in_dataclass or not node.is_property


def _type_of(node: Var, at_base: Instance) -> ProperType:
    found = get_proper_type(node.type)
    if found is None or isinstance(found, PartialType):
        return types.AnyType(types.TypeOfAny.special_form)
    return get_proper_type(expand_type_by_instance(found, at_base))


def _field(
    node: Var,
    found: ProperType,
    base: TypeInfo,
    said: Said | None,
    in_dataclass: bool,
    owner: TypeInfo,
) -> Field:
    mark = said.mark if said is not None else ""
    if not is_checked(owner):
        mark = ""  # the runtimes take the value and forget the mark
    is_always = said is not None and (said.is_always or (in_dataclass and not said.is_assigned))
    is_always = is_always and said is not None and not said.is_deleted
    return Field(
        name=node.name,
        type=found,
        status=_status(found, mark, owner),
        owner=base,
        is_always=is_always,
        is_marked=mark in ("data", "static"),
        is_ready=node.type is not None and not isinstance(node.type, PartialType),
        is_exact=_is_exact(found, node.name, owner),
    )


def _is_exact(found: ProperType, name: str, owner: TypeInfo) -> bool:
    """Tell whether all that the classes assign to an attribute is made by calls of one class."""
    made = {each.made for _, each in all_said(owner, name)} - {""}
    of = [each.type.fullname for each in options(found)[0] if isinstance(each, Instance)]
    return len(of) == 1 and made == {*of}


def _status(found: ProperType, mark: str, owner: TypeInfo) -> Status:
    if mark == "data":
        return "data"
    if mark == "static":
        return "static"
    said: set[Status] = {_status_of(each, owner) for each in options(found)[0] or [found]}
    status: Status = said.pop() if len(said) == 1 else "unknown"
    # An int may have been marked as data; an array cannot have been marked as static.
    return "unknown" if mark == UNSURE and status == "static" else status


def _status_of(found: ProperType, owner: TypeInfo) -> Status:
    if kind_of(found) is not None:
        return "data"
    holds = holds_data(found)
    if is_plain_container(found) and is_checked(owner):
        return "static" if holds is False else "unknown"
    if holds is None:
        return "unknown"
    return "data" if holds else "static"


def _kept(fields: dict[str | int, Field], base: TypeInfo) -> dict[str | int, Field]:
    """Return attributes of base classes, which only their own ``__init__`` assigns for sure.

    A class whose ``__init__`` does not call ``super().__init__`` may leave them out. The
    ``__init__`` of a dataclass takes the fields of dataclasses alone.
    """
    init = base.names.get("__init__")
    if init is None or runtime_of(base.fullname):
        return fields
    marks = marks_of(base)
    if marks is not None and marks.calls_super:
        return fields
    return {
        name: each
        if init.plugin_generated and is_dataclass(each.owner)
        else replace(each, is_always=False)
        for name, each in fields.items()
    }


def _together(before: Field | None, said: Field) -> Field:
    """Return an attribute of a base class after a class said something of it, too."""
    if before is None:
        return said
    if before.is_marked and not said.is_marked:
        said = replace(said, status=before.status, is_marked=True)
    return replace(said, is_always=said.is_always or before.is_always)
