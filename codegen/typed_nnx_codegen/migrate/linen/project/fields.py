"""What the project gives for the fields of its modules: kinds of things, and what calls decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import Bound, CallKeyword, Path, Site
from typed_nnx_codegen.migrate.linen.domain.classes import Field, LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentNumber, Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassRef,
    ClassTransform,
    FieldModule,
    ModuleValue,
    Partial,
    Ref,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    GivenNumber,
    Seq,
    Size,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import find_layer


def held_kind(value: Value) -> Value | None:
    """Return what kind of thing a value is for whoever it is given to; None for a plain value."""
    match value:
        case Ref(name=name, subclass=subclass):
            return Ref(name, subclass=subclass)
        case ClassRef(cls=cls):
            return ClassRef(cls, cls.name, cls.home)
        case FunctionRef(frame=frame) if not frame.names:
            return value
        case FieldModule(default=default):
            return FieldModule("", default)
        case ModuleValue(site=site):
            target = site.target
            known = isinstance(target, LinenClass)
            return FieldModule("", ClassRef(target, "") if known else Ref(target))  # type: ignore[arg-type]  # `known` tells which it is
        case Partial():
            return _partial(value)
    return None


def _partial(value: Partial) -> Value | None:
    function = held_kind(value.function)
    if function is None:
        return None
    # Another partial may have other sizes: those of what is built are asked of it.
    is_open = not isinstance(function, Ref)
    return Partial(
        function,
        tuple(_bound(one, is_open=True) for one in value.args),
        {
            name: _bound(one, is_open=is_open or name == "features")
            for name, one in value.keywords.items()
        },
    )


def _bound(one: Bound, *, is_open: bool) -> Bound:
    kind = held_kind(one.value)
    if kind is None:
        kind = UNKNOWN if is_open else _literal(one.value)
    return replace(one, value=kind)


def _literal(value: Value) -> Value:
    """Return a value if it is literal; UNKNOWN for one that other modules cannot say."""
    match value:
        case Const():
            return Const(value.value)
        case Size(dim=dim):
            return value if dim.constant is not None else UNKNOWN
        case Seq(items=items):
            return replace(value, items=tuple(_literal(item) for item in items))
        case Table(items=table):
            return Table({key: _literal(item) for key, item in table.items()})
    return UNKNOWN


def joined_kinds(kinds: Iterable[Value]) -> list[Value]:
    """Return different kinds; partials of one thing are one, with what is literal in all of them."""
    found: list[Value] = []
    for kind in kinds:
        for position, other in enumerate(found):
            if _is_same(kind, other):
                found[position] = _joined(other, kind)
                break
        else:
            found.append(kind)
    return found


def with_counterpart(kinds: list[Value]) -> list[Value]:
    """Return the kinds of layers that NNX has, where it has any of them.

    Whoever gives another one gets an error: the class is none of NNX.
    """
    return [kind for kind in kinds if not _is_without(kind)] or kinds


def _is_without(kind: Value) -> bool:
    function = kind.function if isinstance(kind, Partial) else kind
    layer = find_layer(function.name) if isinstance(function, Ref) else None
    return layer is not None and not layer.nnx


def _is_same(one: Value, other: Value) -> bool:
    if isinstance(one, Partial) and isinstance(other, Partial):
        return _is_same(one.function, other.function)
    if isinstance(one, FunctionRef) and isinstance(other, FunctionRef):
        return one.node is other.node
    return one == other


def _joined(one: Value, other: Value) -> Value:
    if not isinstance(one, Partial) or not isinstance(other, Partial):
        return one
    names = dict.fromkeys((*one.keywords, *other.keywords))
    keywords: dict[str, Bound] = {}
    is_changed = len(one.args) != len(other.args)
    for name in names:
        first, second = one.keywords.get(name), other.keywords.get(name)
        if first is None or second is None:
            keywords[name] = first or second or Bound(UNKNOWN, "")
            is_changed = is_changed or first is None
            continue
        value = first.value if _is_same(first.value, second.value) else UNKNOWN
        code = None if second.code is None else first.code
        is_changed = is_changed or value != first.value or code != first.code
        keywords[name] = replace(first, value=value, code=code)
    args = one.args if len(one.args) == len(other.args) else ()
    return Partial(one.function, args, keywords) if is_changed else one


def in_field(kind: Value, code: str, names: dict[tuple[str, ...], str]) -> Value:
    """Return a kind of thing as a module finds it in one of its fields.

    Args:
        kind: What kind of thing it is.
        code: The expression for the field.
        names: The keywords of methods for what is given at calls, by where it is in partials.
    """
    match kind:
        case Ref():
            return replace(kind, code=code)
        case ClassRef(cls=cls):
            return ClassRef(cls, code)
        case FunctionRef(node=node, frame=frame):
            return FunctionRef(node, frame, code)
        case FieldModule(default=default):
            return FieldModule(code.removeprefix("self."), default)
        case Partial():
            return _partial_in_field(kind, code, names, ())
        case ClassTransform():
            return kind
    return UNKNOWN


def _partial_in_field(
    kind: Partial, code: str, names: dict[tuple[str, ...], str], path: tuple[str, ...]
) -> Partial:
    keywords: dict[str, Bound] = {}
    for name, one in kind.keywords.items():
        below = (*path, name)
        value = one.value
        if isinstance(value, Partial):
            value = _partial_in_field(value, f"{code}_{name}", names, below)
        if below in names:
            keywords[name] = Bound(value, None, cst.Name(names[below]), hidden=True)
        else:
            keywords[name] = Bound(value, one.code or "...", one.node, hidden=True)
    args = tuple(replace(one, code=one.code or "...", hidden=True) for one in kind.args)
    return Partial(kind.function, args, keywords, code)


_Key = tuple[LinenClass, str]


class FieldFacts:
    """Keeps what the constructions of modules in a project give for their fields.

    Attributes:
        changed: The classes whose fields are seen in a new light.
    """

    def __init__(self) -> None:
        self._kinds: dict[_Key, list[Value]] = {}
        self._of_call: dict[_Key, dict[Path, bool]] = {}
        self._refused: set[_Key] = set()
        self._paused: set[_Key] = set()
        self._sizes: set[_Key] = set()
        self._outputs: dict[LinenClass, bool] = {}
        self._asked: set[LinenClass] = set()
        self.changed: set[LinenClass] = set()

    # -- reading ------------------------------------------------------------------------------

    def kinds(self, one: Field) -> list[Value]:
        """Return the kinds of things that constructions give for a field."""
        return self._kinds.get((one.owner, one.name), [])

    def keywords(self, cls: LinenClass) -> tuple[CallKeyword, ...]:
        """Return the keywords that methods of a module get."""
        found: list[CallKeyword] = []
        taken = {one.name for one in cls.fields()}
        for one in cls.fields():
            key = (one.owner, one.name)
            for path in self._of_call.get(key, ()):
                if path or not self._is_kept(key):
                    found.append(_named(cls, one.name, path, taken))
                    taken.add(found[-1].name)
        return tuple(found)

    def is_of_call(self, cls: LinenClass, name: str) -> bool:
        """Whether calls of methods say what a field is, too."""
        one = _field(cls, name)
        if one is None:
            return False
        key = (one.owner, name)
        return () in self._of_call.get(key, {}) and not self._is_kept(key)

    def is_moved(self, target: str | LinenClass, name: str) -> bool:
        """Whether an argument of a constructor is given at calls where only they know it."""
        if isinstance(target, LinenClass):
            return self.is_of_call(target, name)
        layer = find_layer(target)
        return layer is not None and name in layer.movable

    def holds_arrays(self, one: Field) -> bool:
        """Whether what calls say of a field is an array, as far as known."""
        return self._of_call.get((one.owner, one.name), {}).get((), False)

    def is_movable(self, function: Value, name: str) -> bool:
        """Whether an argument of a constructor can be given at the call instead."""
        match function:
            case Ref(name=public):
                layer = find_layer(public)
                return layer is not None and name in layer.movable
            case ClassRef(cls=cls):
                return self.is_of_call(cls, name)
            case Partial(function=inner) | ClassTransform(target=inner):
                return self.is_movable(inner, name)
        return False

    def moved(self, value: Value) -> Iterator[tuple[Path, Bound]]:
        """Yield what is given at calls instead of in a partial, and where it is in the partial."""
        if not isinstance(value, Partial):
            return
        yield from self.moved(value.function)
        for name, one in value.keywords.items():
            if one.code is None and self.is_movable(value.function, name):
                yield (name,), one
            else:
                yield from (((name, *path), below) for path, below in self.moved(one.value))

    def at_path(self, given: Mapping[str, Bound], keyword: CallKeyword) -> Bound | None:
        """Return what a construction gives that calls say instead; None where it gives none."""
        bound = given.get(keyword.field)
        if bound is None:
            return None
        if not keyword.path:
            return bound if bound.code is None else None
        return dict(self.moved(bound.value)).get(keyword.path)

    # -- writing ------------------------------------------------------------------------------

    def note(self, cls: LinenClass, given: Mapping[str, Bound]) -> None:
        """Note what a construction gives."""
        for name, bound in given.items():
            one = _field(cls, name)
            if one is None:
                continue
            self.note_inner(bound.value)
            key = (one.owner, name)
            self._note_kind(key, bound.value)
            paths = [path for path, _ in self.moved(bound.value)]
            if bound.code is None and not self._is_sayable(bound.value):
                paths.append(())
            known = self._of_call.setdefault(key, {})
            is_array = isinstance(bound.value, Array)
            for path in paths:
                if path not in known:
                    known[path] = is_array
                    self._new(key)
                elif known[path] and not is_array:
                    known[path] = False
                    self._new(key)

    def note_inner(self, value: Value) -> None:
        """Note what a partial of a module gives for its fields."""
        if not isinstance(value, Partial):
            return
        self.note_inner(value.function)
        function = value.function
        if isinstance(function, ClassRef):
            names = [one.name for one in function.cls.fields()]
            self.note(
                function.cls, {**dict(zip(names, value.args, strict=False)), **value.keywords}
            )
            return
        for one in value.keywords.values():
            self.note_inner(one.value)

    def _new(self, key: _Key) -> None:
        self.changed.add(key[0])

    def is_size(self, cls: LinenClass, name: str) -> bool:
        """Whether a field that calls say stays in the constructor as the size of parameters."""
        one = _field(cls, name)
        return one is not None and (one.owner, name) in self._sizes

    def refuse(self, cls: LinenClass, sizes: Iterable[str]) -> bool:
        """Keep fields of a module in its constructor; return whether any was not until now.

        Args:
            cls: The module.
            sizes: The fields that are sizes of parameters.
        """
        keys = {(one.owner, one.name) for one in cls.fields() if self.is_of_call(cls, one.name)}
        self._refused |= keys
        self._sizes |= {key for key in keys if key[1] in sizes}
        return bool(keys)

    # -- sizes that modules make ------------------------------------------------------------

    def has_output(self, cls: LinenClass) -> bool:
        """Whether objects of a module say the last size of what they return; ask for it."""
        if cls not in self._asked:
            self._asked.add(cls)
            self.changed.add(cls)
        return self._outputs.get(cls, True)

    def is_asked(self, cls: LinenClass) -> bool:
        """Whether other modules ask objects of a module for that size."""
        return cls in self._asked and self._outputs.get(cls, False)

    def note_output(self, cls: LinenClass, is_known: bool) -> None:
        """Note whether the constructor of a module knows that size."""
        if self._outputs.get(cls) is not is_known:
            self._outputs[cls] = is_known
            self.changed.add(cls)

    def pause(self, cls: LinenClass) -> None:
        """Take fields of a module for what its constructor knows, until `resume`."""
        self._paused = {(one.owner, one.name) for one in cls.fields()}

    def resume(self) -> None:
        """End `pause`."""
        self._paused = set()

    def _is_kept(self, key: _Key) -> bool:
        return key in self._refused or key in self._paused

    def _note_kind(self, key: _Key, value: Value) -> None:
        kind = held_kind(value)
        if kind is None:
            return
        known = self._kinds.setdefault(key, [])
        joined = joined_kinds([*known, kind])
        if len(joined) != len(known) or any(
            one is not other and one != other for one, other in zip(joined, known, strict=True)
        ):
            self._kinds[key] = joined
            self._new(key)

    def _is_sayable(self, value: Value) -> bool:
        """Whether a partial can be written without what is given at calls instead."""
        if not isinstance(value, Partial):
            return False
        if isinstance(value.function, Partial) and not self._is_sayable(value.function):
            return False
        return all(one.code is not None for one in value.args) and all(
            one.code is not None
            or self.is_movable(value.function, name)
            or self._is_sayable(one.value)
            for name, one in value.keywords.items()
        )


def optional_fields(cls: LinenClass, facts: FieldFacts) -> frozenset[str]:
    """Return the fields whose parameters get a default, since calls say them."""
    found: list[str] = []
    for one in reversed(cls.fields()):
        if one.default is not None:
            continue
        if not facts.is_of_call(cls, one.name):
            break
        found.append(one.name)
    return frozenset(found)


def _field(cls: LinenClass, name: str) -> Field | None:
    return next((one for one in cls.fields() if one.name == name), None)


def _named(cls: LinenClass, field: str, path: Path, taken: set[str]) -> CallKeyword:
    """Return a keyword with a name that its methods do not use for something else."""
    used = set(_names_in_methods(cls, "" if path else field))
    candidates = [f"{field}_{'_'.join(path)}", f"call_{field}_{'_'.join(path)}"]
    candidates = [path[-1], *candidates] if path else [field, f"call_{field}", f"{field}_of_call"]
    free = [name for name in candidates if name not in used and name not in taken - {field}]
    return CallKeyword(free[0] if free else f"{candidates[-1]}_", field, path)


def _names_in_methods(cls: LinenClass, field: str) -> Iterator[str]:
    """Yield the names that methods bind; not a parameter that `nn.merge_param` joins with a field."""
    for base in cls.ancestry():
        for method in base.own_methods.values():
            merged = field and merges(method.node, field)
            for node in descendants(method.node):
                match node:
                    case cst.Param(name=cst.Name(value=name)) if not (merged and name == field):
                        yield name
                    case cst.AssignTarget(target=cst.Name(value=name)) if not (
                        merged and name == field
                    ):
                        yield name
                    case (
                        cst.AugAssign(target=cst.Name(value=name))
                        | cst.AnnAssign(target=cst.Name(value=name))
                        | cst.NamedExpr(target=cst.Name(value=name))
                        | cst.For(target=cst.Name(value=name))
                    ):
                        yield name
                    case cst.Tuple(elements=elements):
                        for one in elements:
                            if isinstance(one.value, cst.Name):
                                yield one.value.value


def merges(method: cst.FunctionDef, field: str) -> bool:
    """Whether a method joins a field with the parameter of the same name: `nn.merge_param`."""
    for node in descendants(method):
        match node:
            case cst.Call(
                func=(
                    cst.Attribute(attr=cst.Name(value="merge_param"))
                    | cst.Name(value="merge_param")
                ),
                args=[_, cst.Arg(value=one), cst.Arg(value=other)],
            ):
                texts = [_text(one), _text(other)]
                if f"self.{field}" in texts and field in texts:
                    return True
    return False


def _text(node: cst.BaseExpression) -> str:
    return cst.Module([]).code_for_node(node)


# Settings of layers that are sizes of their parameters.
_SIZES: Final = frozenset({"features", "num_embeddings", "qkv_features", "out_features"})
# Layers whose size may be several numbers.
_OF_SHAPES: Final = frozenset({"flax.linen.DenseGeneral"})


def with_given_numbers(
    facts: FieldFacts, target: str | LinenClass, given: dict[str, Bound], frame: Frame
) -> dict[str, Bound]:
    """Return the settings of a submodule, with the sizes in them that the method is called with.

    Args:
        facts: What is known of the fields of modules.
        target: What is constructed.
        given: Its settings, by field.
        frame: Where it is constructed.
    """
    if not frame.records:
        return given
    found: dict[str, Bound] = {}
    for name, bound in given.items():
        origin = _origin(bound.value) if bound.code is None else ""
        if origin and _is_size(facts, target, name):
            size = as_dim(ArgumentNumber(origin))
            code = frame.recorder.slots.name(size)
            bound = replace(bound, value=Size(size), code=code, place=None)
        found[name] = bound
    return found


def _origin(value: Value) -> str:
    """Return the expression of a number over the parameters of a method; empty for other values."""
    match value:
        case GivenNumber(origin=origin):
            return origin
        case Array(origin=origin, without=()):
            return origin
    return ""


def _is_size(facts: FieldFacts, target: str | LinenClass, name: str) -> bool:
    """Whether a setting of a submodule is the size of parameters."""
    if isinstance(target, str):
        return name in _SIZES and target not in _OF_SHAPES
    return facts.is_size(target, name)


def size_fields(facts: FieldFacts, sites: Iterable[Site]) -> set[str]:
    """Return the fields of a module that are sizes of parameters of its submodules."""
    return {
        bound.code.removeprefix("self.")
        for site in sites
        for setting, bound in site.given.items()
        if bound.code is not None
        and bound.code.startswith("self.")
        and _is_size(facts, site.target, setting)
    }


def number_of(value: Value) -> Dim | None:
    """Return the number that a method is called with as a size; None where it is not known."""
    match value:
        case Size(dim=dim):
            return dim
        case Const(value=int() as number) if not isinstance(number, bool):
            return as_dim(number)
    origin = _origin(value)
    return as_dim(ArgumentNumber(origin)) if origin else None
