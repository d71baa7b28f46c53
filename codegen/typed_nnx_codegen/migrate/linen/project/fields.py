"""What the project gives for the fields of its modules: containers, kinds, what calls decide."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    dotted,
    of_kinds,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import External, ProjectClass, options_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import Call, CallKeyword, Path, Site
from typed_nnx_codegen.migrate.linen.domain.classes import (
    Field,
    LinenClass,
    LinenClasses,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentNumber, Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import Evaluate, Frame, FunctionRef, Recorder
from typed_nnx_codegen.migrate.linen.domain.names import names_in
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ClassRef,
    ClassTransform,
    FieldModule,
    ModuleValue,
    Partial,
    Ref,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    Passed,
    Seq,
    Size,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import find_layer

# -- containers of modules ----------------------------------------------------------------------

LIST: Final = "nnx.List"
DICT: Final = "nnx.Dict"
_LISTS: Final = frozenset({"Sequence", "List", "Tuple", "list", "tuple", "Iterable", "Collection"})
_DICTS: Final = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "FrozenDict"})

_PLAIN: Final = frozenset({"int", "float", "bool", "str"})
_ARRAYS: Final = frozenset({"ndarray", "Array", "DeviceArray", "ArrayLike", "ArrayTree"})


def held_containers(cls: LinenClass) -> dict[str, str]:
    """Return the fields that hold containers of modules, and what the containers become."""
    found: dict[str, str] = {}
    called = _called(cls)
    for one in cls.fields():
        kind = _kind(one)
        if one.name in called:
            found[one.name] = kind or called[one.name]
        elif kind and _names_module(one):
            found[one.name] = kind
    return found


def holds_arrays(one: Field, *, is_of_call: bool = False) -> bool:
    """Whether a field holds a tuple, list or dict of arrays, by its type.

    Args:
        one: The field.
        is_of_call: Whether methods of others give it what they compute.
    """
    return bool(_kind(one)) and (is_of_call or _names_array(one))


def _names_array(one: Field) -> bool:
    return any(
        isinstance(node, (cst.Name, cst.Attribute)) and _last(node) in _ARRAYS
        for node in descendants(one.annotation.annotation)
    )


def may_be_none(one: Field) -> bool:
    """Whether a field may be None."""
    text = cst.Module([]).code_for_node(one.annotation.annotation)
    match one.default:
        case cst.Name(value="None"):
            return True
    return "Optional" in text or "None" in text


def _kind(one: Field) -> str:
    """Return what the type of a field says of the container that it holds; empty for nothing."""
    annotation = one.annotation.annotation
    if isinstance(annotation, cst.Subscript) and _last(annotation.value) == "Optional":
        inner = annotation.slice[0].slice
        if isinstance(inner, cst.Index):
            annotation = inner.value
    if isinstance(annotation, cst.Subscript):
        annotation = annotation.value
    name = _last(annotation)
    return LIST if name in _LISTS else DICT if name in _DICTS else ""


def _last(node: cst.BaseExpression) -> str:
    return dotted(node).rpartition(".")[2]


def _names_module(one: Field) -> bool:
    """Whether the type of a field has a class of modules in it; not `Type[nn.Module]`."""
    analysis = one.owner.analysis
    for node in descendants(one.annotation.annotation):
        if isinstance(node, cst.Subscript) and _last(node.value) in ("Type", "type", "Callable"):
            return False
        for option in options_of(analysis.values.get(node, NOT_KNOWN)):
            if isinstance(option, External) and public_linen(option.name) == "flax.linen.Module":
                return True
            if isinstance(option, ProjectClass) and any(
                _last(arg.value) == "Module" for arg in option.node.bases
            ):
                return True
    return False


def _called(cls: LinenClass) -> dict[str, str]:
    """Return the fields whose items methods call, and what kind of container that looks like."""
    found: dict[str, str] = {}
    names = {one.name for one in cls.fields()}
    for method in cls.methods().values():
        for node in of_kinds(descendants(method.node), *_CALLING):
            for field, kind in _items_called(node):
                if field in names:
                    found.setdefault(field, kind)
    return found


_CALLING: Final = (cst.For, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.Call)


def _items_called(node: cst.CSTNode) -> Iterator[tuple[str, str]]:
    match node:
        case cst.For(target=target, iter=over, body=body):
            yield from _looped(target, over, [body])
        case cst.ListComp(elt=elt, for_in=part) | cst.GeneratorExp(elt=elt, for_in=part):
            yield from _looped(part.target, part.iter, [elt])
        case cst.DictComp(key=key, value=value, for_in=part):
            yield from _looped(part.target, part.iter, [key, value])
        case cst.Call(func=cst.Subscript(value=base, slice=[cst.SubscriptElement(slice=index)])):
            name = _field_name(base)
            if name:
                is_text = isinstance(index, cst.Index) and isinstance(
                    index.value, (cst.SimpleString, cst.FormattedString)
                )
                yield name, DICT if is_text else LIST


def _looped(
    target: cst.BaseAssignTargetExpression, over: cst.BaseExpression, bodies: list[cst.CSTNode]
) -> Iterator[tuple[str, str]]:
    """Yield the fields whose items a loop calls; not what it only calls the result of."""
    below = [one for body in bodies for one in descendants(body) if isinstance(one, cst.Call)]
    built = {one.func for one in below if isinstance(one.func, cst.Call)}
    called = {
        one.func.value for one in below if one not in built and isinstance(one.func, cst.Name)
    }
    for item, source in iterated(target, over):
        if called.isdisjoint(names_in(item)):
            continue
        for one in descendants(source):
            match one:
                case cst.Attribute(value=base, attr=cst.Name(value="items" | "values")):
                    name = _field_name(base)
                    if name:
                        yield name, DICT
            name = _field_name(one)
            if name:
                yield name, LIST


def iterated(
    target: cst.BaseExpression, over: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Yield what each target of a loop has an item of, in each iteration."""
    match target, over:
        case cst.Tuple(elements=parts), cst.Call(func=cst.Name(value="zip"), args=args) if len(
            parts
        ) == len(args):
            for part, arg in zip(parts, args, strict=True):
                yield from iterated(part.value, arg.value)
        case (
            cst.Tuple(elements=[_, part]),
            cst.Call(func=cst.Name(value="enumerate"), args=[arg, *_]),
        ):
            yield from iterated(part.value, arg.value)
        case cst.Tuple(elements=parts), cst.Tuple(elements=rows) | cst.List(elements=rows) if (
            columns := _columns([row.value for row in rows], len(parts))
        ):
            for part, column in zip(parts, columns, strict=True):
                yield from iterated(part.value, cst.Tuple(column))
        case _:
            yield target, over


def _columns(rows: list[cst.BaseExpression], count: int) -> list[tuple[cst.BaseElement, ...]]:
    """Return the first elements of some tuples, the second ones, and so on; none if they differ."""
    found = [
        row.elements for row in rows if isinstance(row, cst.Tuple) and len(row.elements) == count
    ]
    return [*zip(*found, strict=True)] if len(found) == len(rows) else []


def _field_name(node: cst.CSTNode) -> str:
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
    return ""


_LIST_NODES = (cst.List, cst.Tuple, cst.ListComp, cst.GeneratorExp)
_DICT_NODES = (cst.Dict, cst.DictComp)


def assigned_container(node: cst.BaseStatement) -> tuple[cst.BaseExpression, cst.Assign] | None:
    """Return the list or dict that a statement assigns to an attribute of the object."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return None
    small = node.body[0]
    if not isinstance(small, cst.Assign) or not isinstance(small.targets[0].target, cst.Attribute):
        return None
    is_dict = isinstance(small.value, _DICT_NODES)
    return (small.value, small) if is_dict or _is_list(small.value) else None


def summed(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the lists that a sum adds, in order; ``tuple(...)`` of one is that one."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            yield from summed(left)
            yield from summed(right)
        case cst.Call(cst.Name(value="list" | "tuple"), [cst.Arg(value=items, star="")]) if (
            isinstance(items, _LIST_NODES)
        ):
            yield items
        case _:
            yield node


def _is_list(node: cst.BaseExpression) -> bool:
    """Whether an expression is a list or a tuple that is written down, or a sum of these."""
    return all(isinstance(one, _LIST_NODES) for one in summed(node))


def holds(node: cst.CSTNode, modules: Container[cst.CSTNode]) -> bool:
    """Whether one of some submodules stands somewhere in an expression."""
    return any(below in modules for below in descendants(node))


def wrapped(
    node: cst.BaseExpression,
    replacements: Mapping[cst.CSTNode, str],
    modules: Container[cst.CSTNode],
    refer: Callable[[str], str],
) -> str:
    """Return the code of a list or dict of submodules as a container of NNX."""
    is_list = _is_list(node)
    if not (is_list or isinstance(node, _DICT_NODES)) or not holds(node, modules):
        return code_with(node, replacements)
    name = refer("nnx.List" if is_list else "nnx.Dict")
    first, *others = summed(node)
    node = node if others else first
    if isinstance(node, (cst.List, cst.Tuple)):
        items = [wrapped(one.value, replacements, modules, refer) for one in node.elements]
        return f"{name}([{', '.join(items)}])"
    if isinstance(node, cst.Dict):
        pairs = [
            f"{code_with(one.key, replacements)}: {wrapped(one.value, replacements, modules, refer)}"
            for one in node.elements
            if isinstance(one, cst.DictElement)
        ]
        return f"{name}({{{', '.join(pairs)}}})"
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        inner = {**replacements, node.elt: wrapped(node.elt, replacements, modules, refer)}
        code = code_with(node.with_changes(lpar=[], rpar=[]), inner)
        return f"{name}({code if isinstance(node, cst.ListComp) else f'[{code}]'})"
    return f"{name}({code_with(node.with_changes(lpar=[], rpar=[]), replacements)})"


def as_loop(
    node: cst.ListComp | cst.GeneratorExp,
    target: str,
    replacements: Mapping[cst.CSTNode, str],
    sites: Mapping[cst.CSTNode, object],
    refer: Callable[[str], str],
) -> tuple[str, str, str]:
    """Return a comprehension as a loop: what is before it, its header and its line."""
    part = node.for_in
    item = wrapped(node.elt, replacements, sites, refer)
    header = f"for {code_of(part.target)} in {code_of(part.iter)}:"
    return f"{target} = {refer('nnx.List')}([])", header, f"{target}.append({item})"


# -- kinds of things ----------------------------------------------------------------------------


def held_kind(value: Value) -> Value | None:
    """Return what kind of thing a value is for whoever it is given to; None for a plain value."""
    match value:
        case Ref(name=name, subclass=subclass):
            return Ref(name, subclass=subclass)
        case ClassRef(cls=cls):
            return ClassRef(cls, cls.name, (cls.home,))
        case FunctionRef(frame=frame) if not frame.names:
            return value
        case FieldModule(default=default) if default != UNKNOWN:
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


def _bound(one: Passed, *, is_open: bool) -> Passed:
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
    keywords: dict[str, Passed] = {}
    is_changed = len(one.args) != len(other.args)
    for name in names:
        first, second = one.keywords.get(name), other.keywords.get(name)
        if first is None or second is None:
            keywords[name] = first or other.keywords[name]
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
    keywords: dict[str, Passed] = {}
    kind = kind.held_as(code)
    for name, one in kind.keywords.items():
        below = (*path, name)
        value = one.value
        if isinstance(value, Partial):
            value = _partial_in_field(value, f"{code}_{name}", names, below)
        if below in names:
            keywords[name] = Passed(value, None, cst.Name(names[below]), name, hidden=True)
        else:
            keywords[name] = Passed(value, one.code or "...", one.node, name, hidden=True)
    args = tuple(replace(one, code=one.code or "...", hidden=True) for one in kind.args)
    return Partial(kind.function, args, keywords, code)


_T = TypeVar("_T")
_Key = tuple[LinenClass, str]


class FieldFacts:
    """Keeps what the constructions of modules in a project give for their fields.

    Attributes:
        changed: The classes whose fields are seen in a new light.
        asked: Each question that was asked, and the answer.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[Callable[[], object], object]] = []
        self._kinds: dict[_Key, list[Value]] = {}
        self._of_call: dict[_Key, dict[Path, bool]] = {}
        self._refused: set[_Key] = set()
        self._paused: set[_Key] = set()
        self._sizes: set[_Key] = set()
        self._outputs: dict[LinenClass, bool] = {}
        self._sized: set[LinenClass] = set()
        self.changed: set[LinenClass] = set()

    # -- reading ------------------------------------------------------------------------------

    def _answer(self, ask: Callable[[], _T]) -> _T:
        """Return the answer to a question, and remember both."""
        answer = ask()
        self.asked.append((ask, answer))
        return answer

    def kinds(self, one: Field, held: Sequence[Value]) -> list[Value]:
        """Return the kinds of things that a field holds.

        Args:
            one: The field.
            held: The kinds that are known of its definition.
        """
        key = (one.owner, one.name)
        return self._answer(lambda: joined_kinds([*held, *self._kinds.get(key, [])]))

    def _calls(self, one: Field) -> dict[Path, bool]:
        """Return what calls say of a field: by the path to it, whether it is an array."""
        key = (one.owner, one.name)
        return self._answer(
            lambda: {
                path: is_array
                for path, is_array in self._of_call.get(key, {}).items()
                if path or key not in self._refused | self._paused
            }
        )

    def keywords(self, cls: LinenClass) -> tuple[CallKeyword, ...]:
        """Return the keywords that methods of a module get."""
        found: list[CallKeyword] = []
        taken = {one.name for one in cls.fields()}
        for one in cls.fields():
            for path in self._calls(one):
                found.append(_named(cls, one.name, path, taken))
                taken.add(found[-1].name)
        return tuple(found)

    def is_of_call(self, cls: LinenClass, name: str) -> bool:
        """Whether calls of methods say what a field is, too."""
        one = _field(cls, name)
        return one is not None and () in self._calls(one)

    def is_moved(self, target: str | LinenClass, name: str) -> bool:
        """Whether an argument of a constructor is given at calls where only they know it."""
        if isinstance(target, LinenClass):
            return self.is_of_call(target, name)
        layer = find_layer(target)
        return layer is not None and name in layer.movable

    def holds_arrays(self, one: Field) -> bool:
        """Whether what calls say of a field is an array, as far as known."""
        return self._calls(one).get((), False)

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

    def moved(self, value: Value) -> Iterator[tuple[Path, Passed]]:
        """Yield what is given at calls instead of in a partial, and where it is in the partial."""
        if not isinstance(value, Partial):
            return
        yield from self.moved(value.function)
        for name, one in value.keywords.items():
            if one.code is None and self.is_movable(value.function, name):
                yield (name,), one
            else:
                yield from (((name, *path), below) for path, below in self.moved(one.value))

    def at_path(self, given: Mapping[str, Passed], keyword: CallKeyword) -> Passed | None:
        """Return what a construction gives that calls say instead; None where it gives none."""
        bound = given.get(keyword.field)
        if bound is None:
            return None
        if not keyword.path:
            return bound if bound.code is None else None
        return dict(self.moved(bound.value)).get(keyword.path)

    # -- writing ------------------------------------------------------------------------------

    def note(self, cls: LinenClass, given: Mapping[str, Passed]) -> bool:
        """Note what a construction gives; return whether calls say more of the fields now."""
        is_new = False
        for name, bound in given.items():
            one = _field(cls, name)
            if one is None:
                continue
            self.note_inner(bound.value)
            key = (one.owner, name)
            for each in _classes_in(bound.value):
                self._note_kind(key, each)
            paths = [path for path, _ in self.moved(bound.value)]
            if bound.code is None and not self._is_sayable(bound.value):
                paths.append(())
            known = self._of_call.setdefault(key, {})
            is_array = isinstance(bound.value, Array)
            for path in paths:
                if path not in known:
                    known[path] = is_array
                    self.changed.add(one.owner)
                    is_new = True
                elif known[path] and not is_array:
                    known[path] = False
                    self.changed.add(one.owner)
        return is_new

    def said(self) -> dict[_Key, dict[Path, bool]]:
        """Return what calls say of all fields, for `forget`."""
        return {key: dict(paths) for key, paths in self._of_call.items()}

    def forget(self, before: dict[_Key, dict[Path, bool]]) -> None:
        """Forget what calls were found to say since then."""
        self._of_call = before

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

    def is_size(self, cls: LinenClass, name: str) -> bool:
        """Whether a field that calls say stays in the constructor as the size of parameters."""
        owners = [one.owner for one in cls.fields() if one.name == name]
        return self._answer(lambda: any((one, name) in self._sizes for one in owners))

    def refuse(self, cls: LinenClass, sizes: Iterable[str]) -> None:
        """Keep fields of a module in its constructor.

        Args:
            cls: The module.
            sizes: The fields that are sizes of parameters.
        """
        keys = {(one.owner, one.name) for one in cls.fields() if self.is_of_call(cls, one.name)}
        self._refused |= keys
        self._sizes |= {key for key in keys if key[1] in sizes}

    # -- sizes that modules make ------------------------------------------------------------

    def has_output(self, cls: LinenClass) -> bool:
        """Whether objects of a module say the last size of what they return; ask for it."""
        self._sized.add(cls)
        return self._answer(lambda: self._outputs.get(cls, True))

    def is_asked(self, cls: LinenClass) -> bool:
        """Whether other modules ask objects of a module for that size."""
        return cls in self._sized and self._outputs.get(cls, False)

    def note_output(self, cls: LinenClass, is_known: bool) -> None:
        """Note whether the constructor of a module knows that size."""
        if self._outputs.get(cls, True) is not is_known:
            self.changed.add(cls)
        self._outputs[cls] = is_known

    def pause(self, cls: LinenClass) -> None:
        """Take fields of a module for what its constructor knows, until `resume`."""
        self._paused = {(one.owner, one.name) for one in cls.fields()}

    def resume(self) -> None:
        """End `pause`."""
        self._paused = set()

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
            self.changed.add(key[0])

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


def _classes_in(value: Value) -> Iterable[Value]:
    """Return the classes that a value is one of; another value as it is."""
    options = value.options if isinstance(value, Choice) else ()
    return [one for one in options if not isinstance(one, ModuleValue)] or (value,)


def _sites(recorder: Recorder) -> Iterator[Site]:
    return (other for one in recorder.plan.sites for other in (one, *one.alternatives))


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
    facts: FieldFacts, target: str | LinenClass, given: dict[str, Passed], frame: Frame
) -> dict[str, Passed]:
    """Return the settings of a submodule, with the sizes in them that the method is called with."""
    if not frame.records:
        return given
    found: dict[str, Passed] = {}
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


# -- what callers give --------------------------------------------------------------------------

# The values that a function assigns to names.
_Locals = Mapping[str, list[cst.BaseExpression]]
_Given = tuple[cst.BaseExpression, Analysis, _Locals]
_DEEPEST: Final = 4
_NO_LOCALS: Final[_Locals] = {}


class Evidence:
    """Collects the arguments of the constructors of modules.

    Args:
        classes: The Linen modules of the project.
        evaluate: Goes through an expression.
        value_of_file: Gives the class or function that a name at a place of a file refers to.
    """

    def __init__(
        self,
        classes: LinenClasses,
        evaluate: Evaluate,
        value_of_file: Callable[[cst.BaseExpression, Frame], Value | None],
    ) -> None:
        self._classes = classes
        self._evaluate = evaluate
        self._value_of_file = value_of_file
        self._found: dict[tuple[LinenClass, str], list[_Given]] = {}
        # What dictionaries have by a name: settings that a constructor gets with ``**``.
        self._named: dict[str, list[tuple[cst.BaseExpression, Analysis]]] = {}
        self._is_read = False

    def of(self, one: Field, frame: Frame) -> list[Value]:
        """Return what callers outside of modules give for a field, where that is a kind of thing."""
        said = descendants(one.annotation.annotation)
        kinds = {each.value for each in said if isinstance(each, cst.Name)}
        if kinds & _PLAIN and kinds <= _PLAIN | _LISTS | {"Optional", "None"}:
            return []
        if not self._is_read:
            self._is_read = True
            for analysis in self._classes.analyses:
                self._read(analysis)
        found: list[Value] = []
        for (cls, name), given in self._found.items():
            if name == one.name and one.owner in cls.ancestry():
                for node, analysis, names in given:
                    at = Frame(frame.recorder, analysis, records=False)
                    found += self._values(node, names, at, 0)
        if not found and one.default is None:
            for node, analysis in (*self._named.get(one.name, ()), *_compared(one)):
                at = Frame(frame.recorder, analysis, records=False)
                values = self._values(node, _NO_LOCALS, at, 0)
                found += [value for value in values if isinstance(value, ClassRef)]
            known = {value.cls for value in found if isinstance(value, ClassRef)}
            found += [ClassRef(cls, cls.name, (cls.home,)) for cls in self._derived(known)]
        return [value for value in found if held_kind(value) is not None]

    def _values(
        self, node: cst.BaseExpression, names: _Locals, frame: Frame, depth: int
    ) -> list[Value]:
        """Return what an expression of a function may stand for; nothing for plain values."""
        if depth > _DEEPEST:
            return []
        if isinstance(node, cst.Name) and node.value in names:
            return [
                value
                for one in names[node.value]
                for value in self._values(one, names, frame, depth + 1)
            ]
        if isinstance(node, (cst.Name, cst.Attribute)):
            value = self._value_of_file(node, frame)
            return [] if value is None else [value]
        if isinstance(node, cst.IfExp):
            sides = (node.body, node.orelse)
            return [one for side in sides for one in self._values(side, names, frame, depth + 1)]
        if not isinstance(node, cst.Call | cst.Lambda):
            return []
        inner = Frame(frame.recorder, frame.analysis, records=False)
        for below in descendants(node):
            if isinstance(below, cst.Name) and below.value in names:
                options = self._values(below, names, frame, depth + 1)
                inner.names[below.value] = options[0] if len(options) == 1 else UNKNOWN
        return [self._evaluate(node, inner)]

    def _derived(self, known: set[LinenClass]) -> Iterator[LinenClass]:
        """Yield the modules that derive from one of some."""
        for analysis in self._classes.analyses:
            for cls in self._classes.all_in(analysis):
                if cls not in known and known & set(cls.ancestry()):
                    yield cls

    def _read(self, analysis: Analysis) -> None:
        for table in analysis.nodes.of(cst.Dict):
            for item in table.elements:
                match item:
                    case cst.DictElement(key=cst.SimpleString() as key, value=held):
                        known = self._named.setdefault(str(key.evaluated_value), [])
                        known.append((held, analysis))
        within = dict(_local_names(analysis, self._classes))
        for call in analysis.nodes.of(cst.Call):
            if call not in within:
                continue  # of a method of a module, which is gone through
            target: cst.BaseExpression = call.func
            args = list(call.args)
            value = analysis.values.get(target, NOT_KNOWN)
            if isinstance(value, External) and value.name == "functools.partial" and args:
                target = args[0].value
                args = args[1:]
                value = analysis.values.get(target, NOT_KNOWN)
            if not isinstance(value, ProjectClass):
                continue
            cls = self._classes.of(value)
            if cls is None:
                continue
            names = [field.name for field in cls.fields()]
            for position, arg in enumerate(args):
                if arg.star:
                    break
                if arg.keyword is not None:
                    name = arg.keyword.value
                elif position < len(names):
                    name = names[position]
                else:
                    continue
                given = (arg.value, analysis, within[call])
                self._found.setdefault((cls, name), []).append(given)


def _local_names(analysis: Analysis, classes: LinenClasses) -> Iterator[tuple[cst.Call, _Locals]]:
    """Yield the calls outside of methods of modules, with what names of their function are."""
    inside = {
        node
        for cls in classes.all_in(analysis)
        for method in cls.own_methods.values()
        for node in descendants(method.node)
    }
    for call in analysis.nodes.of(cst.Call):
        if call not in inside:
            yield call, _NO_LOCALS
    for function in analysis.nodes.of(cst.FunctionDef):
        if function in inside:
            continue
        below = list(descendants(function))
        names: dict[str, list[cst.BaseExpression]] = {}
        for node in of_kinds(below, cst.Assign):
            match node:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value
                ):
                    names.setdefault(name, []).append(value)
        for node in below:
            if isinstance(node, cst.Call) and node not in inside:
                yield node, names


def _compared(one: Field) -> Iterator[tuple[cst.BaseExpression, Analysis]]:
    """Yield what methods compare a field with: ``self.block_class == ResNetBlock``."""
    for method in one.owner.own_methods.values():
        for node in of_kinds(descendants(method.node), cst.Comparison):
            match node:
                case cst.Comparison(
                    left=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)),
                    comparisons=[
                        cst.ComparisonTarget(operator=cst.Equal() | cst.Is(), comparator=value)
                    ],
                ) if name == one.name:
                    yield value, one.owner.analysis


_MOST_ROUNDS: Final = 6


class Discovery:
    """Goes through all modules until nothing new is found of their fields.

    Args:
        every: The Linen modules of the project, and what callers build of them.
        facts: What is found.
        explored: Goes through a module; None where that fails.
        has_output: Whether the constructor of a module that was gone through can say the last
            size of what it returns.
    """

    def __init__(
        self,
        every: Sequence[LinenClass],
        facts: FieldFacts,
        explored: Callable[[LinenClass], Recorder | None],
        has_output: Callable[[Recorder], bool],
    ) -> None:
        self._has_output = has_output
        self._every = every
        self._facts = facts
        self._explored = explored
        self._seen: dict[LinenClass, Recorder] = {}
        # What each class asked when it was gone through, and the answers.
        self._asked: dict[LinenClass, list[tuple[Callable[[], object], object]]] = {}

    def run(self) -> dict[LinenClass, Recorder]:
        """Find what the constructions of modules give for their fields; return what was seen last."""
        every = pending = self._every
        for _ in range(_MOST_ROUNDS):
            for cls in pending:
                self._look(cls)
            changed = self._note()
            for cls in every:
                if not changed.isdisjoint(cls.ancestry()):
                    self._refuse(cls)
            # What a module is given says what others give on, and what its objects return.
            pending = [cls for cls in every if self._is_outdated(cls)]
            if not pending:
                break
            for cls in pending:
                self._seen.pop(cls, None)
        return self._seen

    def _look(self, cls: LinenClass) -> None:
        self._facts.asked = []
        recorder = self._explored(cls)
        if recorder is not None:
            self._seen[cls] = recorder
            instance = recorder.instance
            assert isinstance(instance, SelfValue)
            for value in instance.fields.values():
                self._facts.note_inner(value)
            self._facts.note_output(cls, self._has_output(recorder))
        self._asked[cls] = self._facts.asked

    def _is_outdated(self, cls: LinenClass) -> bool:
        """Whether the answer to anything that a class asked is another one now."""
        return any(ask() != answer for ask, answer in self._asked[cls])

    def _note(self) -> set[LinenClass]:
        """Note what sites give; return the classes whose fields are seen in a new light."""
        for recorder in self._seen.values():
            for site in _sites(recorder):
                for bound in site.given.values():
                    self._facts.note_inner(bound.value)
                if isinstance(site.target, LinenClass):
                    self._facts.note(site.target, site.given)
        changed = set(self._facts.changed)
        self._facts.changed.clear()
        return changed

    def _refuse(self, cls: LinenClass) -> None:
        """Keep fields in the constructor where submodules of the module need them there."""
        if not any(self._facts.is_of_call(cls, one.name) for one in cls.fields()):
            return
        moved = self._explored(cls)
        before = self._facts.said()
        for site in [] if moved is None else _sites(moved):
            # A module of the project may be told at its calls, too, unless it needs the field.
            if isinstance(site.target, LinenClass) and self._facts.note(site.target, site.given):
                self._refuse(site.target)
        self._facts.pause(cls)
        kept = self._explored(cls)
        self._facts.resume()
        if moved is not None and kept is not None and self._worth(moved) > self._worth(kept):
            self._facts.forget(before)
            self._facts.refuse(cls, size_fields(self._facts, kept.plan.sites))

    def _worth(self, recorder: Recorder) -> int:
        """Return how much of a module is not known."""
        found = len(recorder.plan.marks)
        for site in recorder.plan.sites:
            for name, bound in site.given.items():
                if bound.code is None and not self._moves(site, name):
                    found += 1
            for call in recorder.log.about(Call, site):
                found += sum(
                    isinstance(value, Array) and value.shape.axis(-1) is None
                    for value in call.values.values()
                )
        return found

    def _moves(self, site: Site, name: str) -> bool:
        bound = site.given[name]
        if any(True for _ in self._facts.moved(bound.value)):
            return True
        return self._facts.is_moved(site.target, name)
