"""Code that uses Linen modules from outside: scripts, training code, library functions, tests.

Its plan says what is written differently; uses of Linen that nothing rewrites get a marker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.members import class_derives
from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted, text_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.composed import ComposedModels as ComposedModels
from typed_nnx_codegen.migrate.linen.callers.composed import Places
from typed_nnx_codegen.migrate.linen.callers.constructions import (
    Constructions,
    Kinds,
    last_part,
)
from typed_nnx_codegen.migrate.linen.callers.init_and_apply import CallerPlan as CallerPlan
from typed_nnx_codegen.migrate.linen.callers.init_and_apply import Writing
from typed_nnx_codegen.migrate.linen.callers.init_and_apply import (
    around_statement as around_statement,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALLER, NAME, ClassPlan, Entry, Mark
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    LinenClass,
    LinenClasses,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.domain.names import nnx_name, written_name
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.layers.products import ConvLayer, DenseLayer, NormLayer
from typed_nnx_codegen.migrate.linen.project.gradual import code_in_bridges
from typed_nnx_codegen.migrate.options import TYPED_NNX

_COLLECTIONS: Final = frozenset({"params", "batch_stats", "cache", "intermediates"})
# `Dense_0`, or what is filled in later: `Dense_{i}`, `Dense_%d`.
_NUMBERED: Final = re.compile(r"([A-Za-z]\w*?)_(?:\d+|\{\w*\}|%[dis])(?!\w)")
_FILLED: Final = re.compile(r"\{\w*\}")
_WORD: Final = re.compile(r"[A-Za-z]\w*")


class PathNames:
    """The names that submodules of Linen have in the paths of variables, and here no more."""

    def __init__(self, plans: Iterable[ClassPlan]) -> None:
        self._changed: set[str] = set()
        self._new: dict[str, set[str]] = {}
        self._forms: set[str] = set()
        self._paths: set[tuple[str, str]] = set()
        for plan in plans:
            for entry in plan.entries:
                if not plan.stays:
                    self._read(entry)

    def is_old(self, text: str) -> bool:
        """Whether a string names a submodule of Linen by its class; paths have no spaces."""
        if any(map(str.isspace, text)):
            return False
        names = [*_WORD.findall(text), *(f"{one}_" for one in _NUMBERED.findall(text))]
        return not self._changed.isdisjoint(names)

    def is_made(self, text: str) -> bool:
        """Whether a key is a name that Linen made of an expression, in another place than here."""
        return any(re.fullmatch(one, text) for one in self._forms)

    def now(self, text: str) -> str:
        """Return what to say of the name that it has now; nothing where it may be one of several."""
        found = {new for word in _WORD.findall(text) for new in self._new.get(word, ())}
        name = found.pop() if len(found) == 1 else ""
        return f": `{name}`" if name else ""

    def is_in_others(self, text: str) -> bool:
        """Whether a text is part of the paths of other submodules than before."""
        return any((text in old) is not (text in new) for old, new in self._paths)

    def _read(self, entry: Entry) -> None:
        if entry.to is None:
            return
        old_path, new_path = (
            re.sub(r"\{\w+\}", "0", one)
            for one in (entry.linen.partition("/")[2], entry.to.replace(".", "/"))
        )
        self._paths.add((old_path, new_path))
        old = entry.linen.split("/")
        old = old[1:] if old[0] in _COLLECTIONS and len(old) > 1 else old
        new = entry.to.split(".")
        for part, now in zip(old, new if len(new) == len(old) else [""] * len(old), strict=True):
            self._new.setdefault(part, set()).add(now)
        for k, part in enumerate(old):
            fixed = _FILLED.split(part)
            if len(fixed) > 1 and any(map(_WORD.search, fixed)) and new[: k + 1] != old[: k + 1]:
                self._forms.add(r"\w+".join(map(re.escape, fixed)))
            match = _NUMBERED.fullmatch(part)
            if match is not None and part not in entry.to.split("."):
                self._changed.add(f"{match[1]}_")
                if find_layer(f"{LINEN}.{match[1]}") is not None:
                    self._changed.add(match[1])


def mark_path_names(
    file: File, constructions: Constructions, names: PathNames, plan: CallerPlan
) -> None:
    """Mark strings that name submodules; those in ``__all__`` name what the file exports."""
    places = constructions.places(file.analysis)
    exports = file.analysis.export_strings() or ()
    reads_paths = any(one.value in _OF_PATHS for one in file.analysis.nodes.of(cst.Name))
    nodes = file.analysis.nodes
    for node in (*nodes.of(cst.SimpleString), *nodes.of(cst.FormattedString)):
        text = _filled_later(node) if isinstance(node, cst.FormattedString) else text_of(node)
        if node not in places or not text or isinstance(places.parent(node), cst.Expr):
            continue
        if any(node is one for one in exports):
            continue
        is_key = isinstance(places.parent(node), cst.Index)
        if names.is_old(text) or (is_key and names.is_made(text)):
            message = f"`{text}` may name a submodule, which has another name now{names.now(text)}"
            plan.marks.append(Mark(node, message, NAME))
        elif reads_paths and _is_searched(node, places) and names.is_in_others(text):
            message = f"`{text}` is in the names of other submodules than before"
            plan.marks.append(Mark(node, message, NAME))


def _filled_later(node: cst.FormattedString) -> str:
    """Return the text of a string with `{}` for each expression in it."""
    return "".join(
        one.value if isinstance(one, cst.FormattedStringText) else "{}" for one in node.parts
    )


def _is_searched(node: cst.BaseString, places: Places) -> bool:
    """Whether a string may be looked for in another one: by itself, or as an item of a tuple."""
    match places.parent(node):
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.In())]):
            return left is node
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.NotIn())]):
            return left is node
        case cst.Element() as item:
            around = places.parent(item)
            return around is not None and isinstance(places.parent(around), cst.CompFor)
        case cst.Arg() as arg:
            call = places.parent(arg)
            return isinstance(call, cst.Call) and last_part(call.func) in ("startswith", "search")
    return False


# What gives the paths of variables.
_OF_PATHS: Final = frozenset(
    {
        *("flatten_dict", "path_aware_map", "ModelParamTraversal", "tree_map_with_path"),
        *("tree_flatten_with_path", "tree_leaves_with_path"),
    }
)
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
        if call in constructions.built or constructions.is_in_built(call, places):
            continue
        if any(one in done for one in places.around(call)):
            held = "" if call in code_in_bridges(file.analysis) else _held_layer(call, file)
            if held:
                plan.marks.append(Mark(constructions.remaining(call), held, CALLER))
            continue
        # What an earlier run left of Linen in a module has its marker there, and what a module
        # does with a call around is written already.
        around = [*places.around(call)]
        if any(one in migrated for one in around) or not constructions.planned.isdisjoint(around):
            continue
        message = "" if call in constructions.planned else _layer(call, file)
        message = message or _given_layer(call, file)
        if message:
            plan.marks.append(Mark(constructions.remaining(call), message, CALLER))


def _waiting_modules(
    file: File,
    constructions: Constructions,
    kinds: Kinds,
    plan_of: Callable[[LinenClass], ClassPlan],
) -> Iterator[Mark]:
    """Yield marks for what fields of modules get that is not as they expect it."""
    for one in constructions.in_file(file.analysis):
        stays = bool(plan_of(one.cls).stays)
        for arg, value in constructions.given_to(one):
            given = constructions.made_by(value)
            message = ""
            if stays and not (given and all(plan_of(each.cls).stays for each in given)):
                message = f"`{one.cls.name}` is still a module of Linen, and this may be none"
            elif not stays and any(plan_of(each.cls).stays for each in given):
                message = f"this is still a module of Linen, and `{one.cls.name}` is none"
            elif not stays and kinds.is_open(one, given):
                what = "waits" if given else "may wait"
                message = f"the module that is given here {what} for sizes where it is constructed"
            if message:
                yield Mark(arg.value, message, CALLER)


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
    """The code of a project outside of its modules."""

    def __init__(
        self,
        classes: LinenClasses,
        composed: ComposedModels,
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self._classes = classes
        self._composed = composed
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
            self._constructions = Constructions(
                self._classes, self._composed, self._plans, self._plan_of
            )
            waits = file.options.target == TYPED_NNX
            self._kinds = Kinds(self._constructions, self._plan_of, waits=waits)
        writing = Writing(file, self._constructions, self._kinds, self._plan_of)
        writing.run()
        if file.options.target != TYPED_NNX:  # its helpers give variables the names of Linen
            mark_path_names(file, self._constructions, self._path_names(), writing.plan)
        mark_leftovers(file, self._constructions, writing.plan)
        writing.plan.marks += _waiting_modules(
            file, self._constructions, self._kinds, self._plan_of
        )
        for mark in [*writing.plan.marks]:
            if not self._is_about_nnx(mark.node, file.analysis):
                writing.plan.marks.remove(mark)
                writing.plan.left.add(mark.node)
        return writing.plan

    def _is_about_nnx(self, node: cst.CSTNode, analysis: Analysis) -> bool:
        """Whether a marker is about a module that is migrated, or about none: what stays needs nothing."""
        concerned = [*self.concerned(node, analysis)]
        return not concerned or not all(self._plan_of(cls).stays for cls in concerned)

    def concerned(self, node: cst.CSTNode, analysis: Analysis) -> Iterable[LinenClass]:
        """Return the modules that a marker in a file is about; where nothing tells, all that it may be."""
        assert self._constructions is not None
        statement = self._constructions.places(analysis).statement(node) or node
        values = [analysis.values.get(one, UNKNOWN) for one in descendants(statement)]
        found = [cls for value in values for cls in self._constructions.named_by(value)]
        found = found or [one.cls for one in self._constructions.in_file(analysis)]
        is_known = isinstance(node, cst.Call) or analysis.values.get(node, UNKNOWN) != UNKNOWN
        return found if found and is_known else [plan.cls for plan in self._plans]

    def _path_names(self) -> PathNames:
        staying = [plan.cls for plan in self._plans if plan.stays]
        if self._names is None or self._names[0] != staying:
            self._names = staying, PathNames(self._plans)
        return self._names[1]
