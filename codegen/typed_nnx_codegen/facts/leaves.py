"""What stands at the keys of a State: one level of it, or all leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mypy import types
from mypy.nodes import TypeInfo
from mypy.types import Instance, ProperType, TupleType, Type, get_proper_type

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.fields import Field, Model, Status, model_of
from typed_nnx_codegen.facts.filters import UNSAID, Filter, Key, below, entries_of, passes
from typed_nnx_codegen.facts.kinds import (
    Kind,
    arguments_at,
    holds_data,
    is_base_class,
    is_rngs,
    kind_of,
    options,
    runtime_base,
    runtime_of_class,
)
from typed_nnx_codegen.facts.names import runtime_of

_DEEPEST: Final = 12
# What the layers of the runtimes make themselves; of other types it may be a subclass.
_EXACT: Final = frozenset({"BatchStat", "Param"})
_SETTINGS: Final = frozenset(
    ("builtins.bool", "builtins.int", "builtins.str", "builtins.type", "numpy.dtype")
)
# The protocols of layers; others are those of functions and of dtypes.
_LAYERS: Final = ("RNNBase",)
# Of what holds settings in a layer: shapes, axes, strides, groups.
_ROWS: Final = frozenset(
    (
        "builtins.tuple",
        "flax.core.frozen_dict.FrozenDict",
        "typed_nnx.nn._layers.FrozenMapping",
        "typing.Sequence",
    )
)


def members_of(model: Type, checker: Checker) -> Model | None:
    """Return what stands in a model; None where nothing is known of it, and for a leaf."""
    proper = get_proper_type(model)
    if isinstance(proper, TupleType):
        return _of_tuple(proper)
    if not isinstance(proper, Instance):
        return None
    kind = kind_of(proper)
    if kind is Kind.PYTREE:
        return _of_pytree(proper, checker)
    if kind in (Kind.LIST, Kind.DICT):
        return _of_container(proper)
    if kind is None and proper.args:
        if proper.type.fullname in ("builtins.list", "builtins.tuple"):
            return Model({}, _item(proper, proper.args[0]), int)
        if proper.type.fullname == "builtins.dict":
            return _of_dict(proper)
    return None


def _of_pytree(instance: Instance, checker: Checker) -> Model | None:
    model = model_of(instance, checker)
    if model is None:
        return None
    named = {
        name: replace(each, status=_status(each), is_exact=each.is_exact or _is_of_layer(each))
        for name, each in model.fields.items()
    }
    stream = _stream(instance.type, checker)
    # A type that is one of the runtime's bases says nothing about the object.
    is_base = is_base_class(instance.type)
    # A class without attributes is there to be derived from; an Rngs has streams.
    is_base = is_base or instance.type.is_abstract or not (named or stream)
    other = _item(instance, stream) if stream is not None else model.other
    is_open, given = model.is_open or is_base, entries_of(instance)
    # What a MultiMetric or a Sequential was given, which its class does not say.
    made = {name for name in given if name.isidentifier() and not name.startswith("__")}
    if made:
        named |= {name: _item(instance, given[name], name) for name in made}
        is_open = UNSAID in given
    return replace(model, fields=named, other=other, is_open=is_open)


def _stream(info: TypeInfo, checker: Checker) -> Instance | None:
    """Return what stands at each name of an Rngs."""
    return checker.instance(f"{runtime_of_class(info)}.RngStream") if is_rngs(info) else None


def _is_of_layer(field: Field) -> bool:
    """Tell whether a layer of a runtime makes an attribute, which is of its class itself then."""
    of = [getattr(each, "type", None) for each in options(field.type)[0]]
    is_ours = bool(runtime_of(field.owner.fullname))
    return is_ours and len(of) == 1 and isinstance(of[0], TypeInfo) and of[0].name in _EXACT


def _is_made_there(field: Field) -> bool:
    """Tell whether nothing else surely has what an attribute has: arrays count by place."""
    if field.is_exact:
        return True
    kinds = {kind_of(each) for each in options(field.type)[0]}
    is_of_layer = bool(runtime_of(field.owner.fullname)) and kinds == {Kind.VARIABLE}
    return is_of_layer or kinds == {Kind.ARRAY}


def _item(owner: Instance, found: Type, key: Key | None = None) -> Field:
    """Return what stands at a position of a container, or at any that it may have."""
    name, is_always = ("", False) if key is None else (str(key), True)
    status: Status = "static" if holds_data(found) is False else "data"
    return Field(name, get_proper_type(found), status, owner.type, is_always)


def _status(field: Field) -> Status:
    """Return what a field is; functions, dtypes and axes of the runtimes' own layers are static."""
    if field.status != "unknown" or not runtime_of(field.owner.fullname):
        return field.status
    if field.name == "axis_index_groups" or field.name.endswith("_cls"):
        return "static"  # flax gives them no type
    parts = [each for each in options(field.type)[0] if not isinstance(each, types.AnyType)]
    return "static" if parts and all(map(_is_setting, parts)) else field.status


def _is_setting(found: ProperType) -> bool:
    if isinstance(found, Instance):
        is_setting = found.type.is_protocol and found.type.name not in _LAYERS
        if is_setting or found.type.fullname in _SETTINGS:
            return True
        return found.type.fullname in _ROWS and _are_settings(found.args)
    if isinstance(found, TupleType):
        return _are_settings(found.items)
    return isinstance(found, types.CallableType | types.TypeType | types.LiteralType)


def _are_settings(found: Sequence[Type]) -> bool:
    return all(_is_setting(part) for each in found for part in options(each)[0])


def _of_container(instance: Instance) -> Model | None:
    """Return what is in an ``nnx.List`` or ``nnx.Dict``; a subclass may have attributes, too."""
    base, arguments = (
        runtime_base(instance.type, "List", "Dict"),
        arguments_at(instance, "List", "Dict"),
    )
    if base is None:
        return None
    given, is_own = entries_of(instance), base is instance.type
    key = int if base.name == "List" else str
    fields = {key(at): _item(instance, found, key(at)) for at, found in given.items()}
    if fields and key is str:
        return Model(fields)
    return Model(fields, _item(instance, arguments[-1]), key, is_open=not is_own)


def _of_tuple(row: TupleType) -> Model | None:
    is_plain = row.partial_fallback.type.fullname == "builtins.tuple"
    if not is_plain or any(
        isinstance(get_proper_type(each), types.UnpackType) for each in row.items
    ):
        return None
    return Model({at: _item(row.partial_fallback, e, at) for at, e in enumerate(row.items)})


def _of_dict(instance: Instance) -> Model | None:
    key = get_proper_type(instance.args[0])
    name = key.type.fullname if isinstance(key, Instance) else ""
    if name not in ("builtins.str", "builtins.int"):
        return None
    return Model({}, _item(instance, instance.args[1]), str if name == "builtins.str" else int)


def is_leaf(found: Type) -> bool:
    """Tell whether a type is that of a leaf: of a Variable or an array."""
    return kind_of(found) in (Kind.VARIABLE, Kind.ARRAY)


def parts_in(
    found: Type, checker: Checker, seen: set[ProperType] | None = None
) -> Iterator[ProperType | None]:
    """Yield what a value may be, and all that it may hold as data, each type once; None for any."""
    seen = set() if seen is None else seen
    parts, _ = options(found)
    if not parts:
        yield None
    for part in parts:
        if part in seen:
            continue
        seen.add(part)
        yield part
        members = None if is_leaf(part) else members_of(part, checker)
        if members is not None:
            held = [each for each in members.fields.values() if each.status != "static"]
            for each in (*held, *([members.other] if members.other is not None else [])):
                yield from parts_in(each.type, checker, seen)


# -- all leaves -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """A Variable or an array in a model.

    Attributes:
        path: Where it stands, from the model; None for an index or key that is not known.
        type: Its type.
        passes: Whether the filter takes it; None where that is not sure.
        is_sure: Whether every object of the class has it.
        is_own: Whether it, and all that it stands in, was made by a call for the place where it stands.
            Two such leaves are two Variables; another one may stand at several places.
    """

    path: tuple[Key, ...]
    type: ProperType
    passes: bool | None
    is_sure: bool
    is_own: bool = False


@dataclass(frozen=True)
class Leaves:
    """The leaves of a model.

    Attributes:
        items: Those that are known, taken by the filter or not.
        is_complete: Whether there are no others.
    """

    items: list[Leaf]
    is_complete: bool


def is_present(found: Type, of: Filter, checker: Checker, *, is_exact: bool = False) -> bool | None:
    """Tell whether a State has something at the place of a value: a leaf that passes the filter.

    Args:
      found: The type of the value.
      of: The filter, for paths from there.
      checker: The type checker of the file.
      is_exact: Whether the value is of the class of its type itself.

    Returns:
      None where that is not sure.
    """
    items, is_optional = options(found)
    answers = {_has_any(leaves_of(each, of, checker, is_exact=is_exact)) for each in items}
    answers |= {False} if is_optional else set()
    # A field that is only seen as None is there to get something else.
    return answers.pop() if items and len(answers) == 1 else None


def _has_any(leaves: Leaves) -> bool | None:
    if any(leaf.passes and leaf.is_sure for leaf in leaves.items):
        return True
    is_empty = leaves.is_complete and all(leaf.passes is False for leaf in leaves.items)
    return False if is_empty else None


def leaves_of(model: Type, of: Filter, checker: Checker, *, is_exact: bool = False) -> Leaves:
    """Return the leaves of a model, and whether a filter takes them."""
    walk = _Walk(checker)
    items = list(walk.through(model, of, (), is_sure=True, is_exact=is_exact, is_own=True))
    return Leaves(items, walk.is_complete)


class _Walk:
    """Goes through a model and finds out whether it has seen all."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._above: list[ProperType] = []
        self.is_complete = True

    def through(
        self,
        found: Type,
        of: Filter,
        path: tuple[Key, ...],
        *,
        is_sure: bool,
        is_exact: bool = False,
        is_own: bool = False,
    ) -> Iterator[Leaf]:
        """Yield the leaves in a value, of which `of` is the filter by paths from there."""
        items, is_optional = options(found)
        self.is_complete &= bool(items)
        is_sure = is_sure and not is_optional and len(items) == 1
        for each in items:
            if is_leaf(each):
                yield Leaf(path, each, passes(of, each, is_exact=is_exact), is_sure, is_own)
            else:
                yield from self._into(
                    each, of, path, is_sure=is_sure, is_exact=is_exact, is_own=is_own
                )

    def _into(
        self,
        found: ProperType,
        of: Filter,
        path: tuple[Key, ...],
        *,
        is_sure: bool,
        is_exact: bool,
        is_own: bool,
    ) -> Iterator[Leaf]:
        # What is below a type in itself is endless, and each object ends somewhere.
        is_end = len(path) >= _DEEPEST or found in self._above
        members = None if is_end else members_of(found, self._checker)
        if members is None:
            self.is_complete = False
            return
        self._above.append(found)
        may_be_other = (
            not is_exact
            and isinstance(found, Instance)
            and may_be_subclass(found.type, self._checker)
        )
        self.is_complete &= not (members.is_open or may_be_other)
        for key, member in members.fields.items():
            if member.status != "static":
                is_there = member.is_always and member.status == "data"
                yield from self.through(
                    member.type,
                    below(of, key),
                    (*path, key),
                    is_sure=is_sure and is_there,
                    is_exact=member.is_exact,
                    is_own=is_own and _is_made_there(member),
                )
        if members.other is not None:
            yield from self.through(
                members.other.type, below(of, None, members.other_key), (*path, None), is_sure=False
            )
        self._above.pop()


# -- subclasses -------------------------------------------------------------------------------


def known_subclasses(info: TypeInfo, checker: Checker) -> Iterator[TypeInfo]:
    """Yield the classes below a class where it and its use are written.

    Which other modules mypy has read depends on its cache.
    """
    for name in dict.fromkeys((checker.tree.fullname, info.module_name)):
        checker.depend_on(name)
        module = checker.api.modules.get(name)
        for symbol in module.names.values() if module is not None else ():
            other = symbol.node
            if isinstance(other, TypeInfo) and other is not info and info in other.mro:
                yield other


def may_be_subclass(info: TypeInfo, checker: Checker) -> bool:
    """Tell whether an object of a class of a user may well be of one below it."""
    if runtime_of(info.fullname):
        return False
    if info.is_abstract or info.is_protocol:
        return True
    return any(True for _ in known_subclasses(info, checker))
