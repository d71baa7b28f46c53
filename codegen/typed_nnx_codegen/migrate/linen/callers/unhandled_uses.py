"""Plans what callers are written like; uses of Linen that nothing rewrites get a marker."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import class_derives
from typed_nnx_codegen.migrate.analysis.syntax import dotted, text_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions, Kinds, Places
from typed_nnx_codegen.migrate.linen.callers.init_and_apply import CallerPlan, Writing
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALLER, NAME, ClassPlan, Entry, Mark
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    LinenClass,
    LinenClasses,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.names import nnx_name, written_name
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.layers.products import ConvLayer, DenseLayer, NormLayer
from typed_nnx_codegen.migrate.linen.project.gradual import code_in_bridges

_COLLECTIONS: Final = frozenset({"params", "batch_stats", "cache", "intermediates"})
_AUTO: Final = re.compile(r"([A-Z]\w*)_(\d+|\{\w+\})")
_VARIABLE: Final = re.compile(r"\{(\w+)\}")
_WORD: Final = re.compile(r"[A-Za-z]\w*")


class PathNames:
    """Where the variables of Linen are in the new models, by path.

    Args:
        plans: What becomes of the modules of a project.
    """

    def __init__(self, plans: Iterable[ClassPlan]) -> None:
        self._paths: list[tuple[list[str], list[tuple[str, ...]]]] = []
        self._changed: set[str] = set()
        for plan in plans:
            for entry in plan.entries:
                if not plan.stays:
                    self._read(entry)

    def new(self, keys: Sequence[str]) -> list[str] | None:
        """Return the keys of a path as they are now; None where that is not sure."""
        first = [keys[0]] if keys[0] in _COLLECTIONS else []
        rest = keys[len(first) :]
        found = {
            translated
            for old, new in self._paths
            if (translated := _translated(rest, old, new)) is not None
        }
        return [*first, *found.pop()] if len(found) == 1 else None

    def is_old(self, text: str) -> bool:
        """Whether a string names a submodule of Linen by its class."""
        for word in _WORD.findall(text):
            if word in self._changed:
                return True
            match = _AUTO.fullmatch(word)
            if match is not None and f"{match[1]}_" in self._changed:
                return True
        return False

    def _read(self, entry: Entry) -> None:
        if entry.to is None:
            return
        old = entry.linen.split("/")
        old = old[1:] if old[0] in _COLLECTIONS and len(old) > 1 else old
        for part in old:
            match = _AUTO.fullmatch(part)
            if match is not None:
                self._changed.add(f"{match[1]}_")
                if find_layer(f"{LINEN}.{match[1]}") is not None:
                    self._changed.add(match[1])
        new = _aligned(old, entry.to.split("."))
        if new is not None:
            self._paths.append((old, new))


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, ...]] | None:
    """Return the new parts of each part of a path; None where that is not sure."""
    found: list[tuple[str, ...]] = []
    place = 0
    for part in old:
        if place >= len(new):
            return None
        take = 1
        for name in _VARIABLE.findall(part):
            is_next = place + 1 < len(new) and new[place + 1] == f"{{{name}}}"
            if f"{{{name}}}" not in new[place] and is_next:
                take = 2
        found.append(tuple(new[place : place + take]))
        place += take
    return found if place == len(new) else None


def _translated(
    keys: Sequence[str], old: Sequence[str], new: Sequence[tuple[str, ...]]
) -> tuple[str, ...] | None:
    if len(keys) > len(old):
        return None
    found: list[str] = []
    for key, part, parts in zip(keys, old, new, strict=False):
        pattern = _VARIABLE.sub(r"(?P<\1>\\d+)", part)
        match = re.fullmatch(pattern, key)
        if match is None:
            return None
        for each in parts:
            for name, value in match.groupdict().items():
                each = each.replace(f"{{{name}}}", value)
            found.append(each)
    return None if any("{" in each for each in found) else tuple(found)


def write_path_names(
    file: File, constructions: Constructions, names: PathNames, plan: CallerPlan
) -> None:
    """Write the keys of parameters as they are now; mark other strings that name submodules.

    Args:
        file: The file.
        constructions: What the callers of the project do.
        names: Where variables are now.
        plan: What is written.
    """
    places = constructions.places(file.analysis)
    done: set[cst.CSTNode] = set()
    for subscript in file.analysis.nodes.of(cst.Subscript):
        if subscript in places and not isinstance(places.parent(subscript), cst.Subscript):
            done |= _write_chain(subscript, places, names, plan)
    for node in file.analysis.nodes.of(cst.SimpleString):
        text = text_of(node)
        if node in done or node not in places or text is None or not names.is_old(text):
            continue
        if not isinstance(places.parent(node), cst.Expr):
            message = f"`{text}` may name a submodule, which has another name now"
            plan.marks.append(Mark(node, message, NAME))


def _write_chain(
    subscript: cst.Subscript, places: Places, names: PathNames, plan: CallerPlan
) -> set[cst.CSTNode]:
    """Write `params["Dense_0"]["kernel"]`; return the strings that need no more."""
    strings: list[cst.BaseExpression] = []
    current: cst.BaseExpression = subscript
    while isinstance(current, cst.Subscript):
        key = _key(current)
        if key is None:
            return set()
        strings.append(key)
        current = current.value
    strings.reverse()
    keys = [text_of(one) or "" for one in strings]
    if not any(map(names.is_old, keys)):
        return set()
    new = names.new(keys)
    is_written = any(one in plan.code for one in (subscript, *places.around(subscript)))
    if new is None or is_written:
        return set()
    base = code_with(current, plan.code)
    plan.code[subscript] = base + "".join(f'["{key}"]' for key in new)
    return set(strings)


def _key(node: cst.Subscript) -> cst.BaseExpression | None:
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    value = node.slice[0].slice.value
    return value if text_of(value) is not None else None


_QUESTIONS: Final = ("isinstance", "issubclass")
# Functions whose arguments are of another form in NNX.
_OTHERS: Final = frozenset(
    {
        *("apply", "init", "init_with_output", "tabulate", "summary", "logical_to_mesh"),
        *("get_partition_spec", "get_sharding", "logical_to_mesh_sharding", "unbox"),
        *("Partitioned", "LogicallyPartitioned", "meta", "spmd", "enable_named_call"),
    }
)


def mark_leftovers(file: File, constructions: Constructions, plan: CallerPlan) -> None:
    """Mark what callers do with Linen that is not migrated."""
    places = constructions.places(file.analysis)
    done = set(plan.code) | code_in_bridges(file.analysis)
    plan.marks += _classes_in_tables(file, constructions)
    migrated = {
        cls.node for cls in file.analysis.classes if class_derives(cls, "Module", "Pytree") is True
    }
    for call in file.analysis.nodes.of(cst.Call):
        if call not in places or call in done:
            continue
        if any(one in done for one in places.around(call)):
            held = "" if call in code_in_bridges(file.analysis) else _held_layer(call, file)
            if held:
                plan.marks.append(Mark(constructions.remaining(call), held, CALLER))
            continue
        # What an earlier run left of Linen in a module has its marker there.
        if any(one in migrated for one in places.around(call)):
            continue
        message = "" if call in constructions.planned else _layer(call, file)
        message = message or _given_layer(call, file)
        if message:
            plan.marks.append(Mark(constructions.remaining(call), message, CALLER))


def _classes_in_tables(file: File, constructions: Constructions) -> Iterator[Mark]:
    """Yield marks for modules in lists and tables, which something constructs later."""
    places = constructions.places(file.analysis)
    for node in (*file.analysis.nodes.of(cst.DictElement), *file.analysis.nodes.of(cst.Element)):
        if node not in places or node.value in constructions.planned:
            continue
        if not constructions.is_module_class(file.analysis.values.get(node.value, UNKNOWN)):
            continue
        if constructions.is_table_of_later(node.value, places):
            continue
        calls = (one.func for one in places.around(node) if isinstance(one, cst.Call))
        if not any(dotted(func) in _QUESTIONS for func in calls):
            name = dotted(node.value)
            message = (
                f"`{name}` is constructed by what takes it from here: NNX needs sizes and `rngs`"
            )
            yield Mark(node.value, message, CALLER)


def _held_layer(call: cst.Call, file: File) -> str:
    """Return what to say of a layer in what is written anew: its sizes are not."""
    value = file.analysis.values.get(call.func, UNKNOWN)
    public = public_linen(value.name) if isinstance(value, External) else ""
    layer = find_layer(public) if public else None
    is_whole = (
        layer is None or not layer.nnx or not isinstance(layer, DenseLayer | ConvLayer | NormLayer)
    )
    return "" if is_whole else _layer(call, file)


def _given_layer(call: cst.Call, file: File) -> str:
    """Return what to say of a layer that NNX does not have, where callers pass it on."""
    for arg in call.args:
        value = file.analysis.values.get(arg.value, UNKNOWN)
        public = public_linen(value.name) if isinstance(value, External) else ""
        if public and find_layer(public) is not None and not written_name(public):
            return f"`{public.rpartition('.')[2]}` is a class of Linen that NNX does not have"
    return ""


def _layer(call: cst.Call, file: File) -> str:
    """Return what to say of a layer or function of Linen that callers use by themselves."""
    value = file.analysis.values.get(call.func, UNKNOWN)
    if not isinstance(value, External):
        return ""
    public = public_linen(value.name)
    if not public.startswith(f"{LINEN}."):
        return ""
    name = public.removeprefix(f"{LINEN}.")
    if find_layer(public) is not None:
        return f"`{name}` is constructed outside of a module: NNX needs the sizes of its inputs"
    if name.partition(".")[0] in _OTHERS or not nnx_name(public):
        return f"`{name}` of Linen works on other values in NNX"
    return ""


class Callers:
    """The code of a project outside of its modules.

    Args:
        classes: The modules of the project.
        plan_of: Gives the plan of a module.
    """

    def __init__(self, classes: LinenClasses, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
        self._classes = classes
        self._plan_of = plan_of
        self._constructions: Constructions | None = None
        self._kinds: Kinds | None = None
        self._plans: list[ClassPlan] = []
        # The names of paths, and the modules that stay then.
        self._names: tuple[list[LinenClass], PathNames] | None = None

    def plan(self, file: File) -> CallerPlan:
        """Return what is written differently in a file, outside of modules."""
        if self._constructions is None or self._kinds is None:
            every = [cls for one in self._classes.analyses for cls in self._classes.all_in(one)]
            self._plans = [self._plan_of(cls) for cls in every]
            self._constructions = Constructions(self._classes, self._plans)
            self._kinds = Kinds(self._constructions, self._plan_of)
        writing = Writing(file, self._constructions, self._kinds, self._plan_of)
        writing.run()
        write_path_names(file, self._constructions, self._path_names(), writing.plan)
        mark_leftovers(file, self._constructions, writing.plan)
        return writing.plan

    def _path_names(self) -> PathNames:
        staying = [plan.cls for plan in self._plans if plan.stays]
        if self._names is None or self._names[0] != staying:
            self._names = staying, PathNames(self._plans)
        return self._names[1]
