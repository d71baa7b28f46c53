"""What changes in the methods of a module beside the constructors of submodules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, name_nodes, names_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CALL,
    Arguments,
    BuildAtCall,
    CallElsewhere,
    CallKeyword,
    ClassPlan,
    Enter,
    ListUse,
    Need,
    Site,
    movable,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import (
    argument,
    arguments_of,
    code_with,
    wrapped,
    written_with,
)
from typed_nnx_codegen.migrate.linen.domain.frames import CallEdit, Frame, Recorder
from typed_nnx_codegen.migrate.linen.domain.names import bound_in, names_in, snake_case
from typed_nnx_codegen.migrate.linen.domain.values import Passed
from typed_nnx_codegen.migrate.linen.layers import Argument, Built, Helper, find_layer
from typed_nnx_codegen.migrate.linen.layers.layer import IN_DTYPE_OF_INPUTS, KEEP_DTYPES
from typed_nnx_codegen.migrate.linen.project.fields import FieldFacts, merges
from typed_nnx_codegen.migrate.linen.project.gradual import mutable

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.plan.naming import Naming

SETTING: Final = "dtype"
# Layers that do nothing before they bring inputs and parameters to their dtype, nor after it.
_TYPED: Final = frozenset({"nnx.Linear", "nnx.LinearGeneral", "nnx.Conv", "nnx.ConvTranspose"})
# Layers that compute in their own way, and bring their result to their dtype in the end.
_CAST_RESULTS: Final = frozenset({"nnx.LayerNorm", "nnx.RMSNorm"})


def follows_inputs(site: Site, recorder: Recorder) -> bool:
    """Whether a layer computes in a dtype that is known at all of its calls, and only there."""
    if _array_of(site) is None or site.transforms or site.stacks or site.alternatives:
        return False
    calls = list(_calls(site, recorder))
    return (
        bool(calls)
        and not recorder.log.about(CallElsewhere, site)
        and all(_is_known_at(site, node, edit) for node, edit in calls)
    )


def typed(site: Site, built: Built, recorder: Recorder) -> Built:
    """Return how a layer is constructed, so that its parameters follow its inputs if it does.

    Args:
        site: The layer.
        built: How it is constructed without that.
        recorder: What was seen of the module.
    """
    if not follows_inputs(site, recorder):
        return built
    kept = tuple(one for one in built.arguments if one.keyword != SETTING)
    helper = KEEP_DTYPES if built.cls in _CAST_RESULTS else IN_DTYPE_OF_INPUTS
    others = tuple(one for one in kept if one.keyword != "promote_dtype")
    added = Argument("promote_dtype", helper.name)
    helpers = tuple(dict.fromkeys((*built.helpers, helper)))
    return replace(built, arguments=(*others, added), helpers=helpers)


def cast_at(
    site: Site | None, node: cst.Call, recorder: Recorder, replacements: dict[cst.CSTNode, str]
) -> str:
    """Return the dtype that the inputs of a call are brought to; empty where they have it.

    Args:
        site: The layer that is called.
        node: The call.
        recorder: What was seen of the module.
        replacements: What is written in the place of parts of the file.
    """
    array = None if site is None else _array_of(site)
    if site is None or array is None or not follows_inputs(site, recorder):
        return ""
    first = node.args[0].value
    if isinstance(first, cst.Name) and first.value == array.value:
        return ""
    dtype = site.given[SETTING].node
    assert dtype is not None
    return code_with(dtype, replacements)


def cast_result(edit: CallEdit, node: cst.Call, recorder: Recorder) -> None:
    """Note that what a call of a norm gives is brought to the dtype of its inputs.

    Args:
        edit: How the call is written otherwise.
        node: The call.
        recorder: What was seen of the module.
    """
    site = edit.site
    if site is None or _array_of(site) is None or not follows_inputs(site, recorder):
        return
    dtype = site.given[SETTING].node
    if _casts_result(site):
        recorder.replace(
            node,
            lambda _, updated: cst.Call(
                cst.Attribute(updated, cst.Name("astype")), [cst.Arg(dtype)]
            ),
        )


def _array_of(site: Site) -> cst.Name | None:
    """Return the array whose dtype a layer has, where only calls know it; None where it has none."""
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    bound = site.given.get(SETTING)
    if (
        layer is None
        or layer.nnx not in _TYPED | _CAST_RESULTS
        or bound is None
        or "promote_dtype" in site.given
    ):
        return None
    if bound.code is not None or bound.hidden:
        return None
    match bound.node:
        case cst.Attribute(value=cst.Name() as array, attr=cst.Name(value="dtype")):
            return array if array.value != "self" else None
    return None


def _calls(site: Site, recorder: Recorder) -> Iterator[tuple[cst.Call, CallEdit]]:
    for edit in recorder.log.of(CallEdit):
        if edit.site is site:
            yield edit.node, edit


def _is_known_at(site: Site, node: cst.Call, edit: CallEdit) -> bool:
    bound = site.given[SETTING]
    first = node.args[0] if node.args else None
    if first is None or first.keyword is not None or first.star or edit.called != "__call__":
        return False
    if _casts_result(site) and (edit.arguments is not None or len(node.args) != 1):
        return False
    return (
        isinstance(bound.place, Frame)
        and edit.frame is not None
        and edit.frame.method is not None
        and is_same_there(bound.node, bound.place, edit.frame)
    )


def _casts_result(site: Site) -> bool:
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    return layer is not None and layer.nnx in _CAST_RESULTS


def edit_methods(
    recorder: Recorder, naming: Naming, moving: Moving, refer: Callable[[str], str]
) -> None:
    """Note in the plan how calls of submodules are written, and which lists methods go through."""
    for edits in recorder.log.groups(CallEdit):
        _edit(recorder, edits[0].node, edits, refer, moving)
    _pass_lists(recorder, naming)
    moving.finish()


def _pass_lists(recorder: Recorder, naming: Naming) -> None:
    """Begin to go through lists of submodules where callers enter; other methods are given them."""
    plan = recorder.plan
    self_calls = recorder.self_calls
    needs: dict[cst.CSTNode, list[str]] = {}
    for name, sites in naming.lists.items():
        methods = {site.method_node for site in sites if site.method_node is not None}
        only = methods.pop() if len(methods) == 1 else None
        if only is not None and _runs_once(recorder, only):
            plan.iterators.setdefault(only, []).append(_use(name, sites, recorder))
            continue
        for site in sites:
            if site.method_node is not None:
                _add(needs, site.method_node, name)
    changed = True
    while changed:
        changed = False
        for caller, _, called in self_calls:
            for name in list(needs.get(called, ())):
                changed = _add(needs, caller, name) or changed
    called_nodes = {called for _, _, called in self_calls}
    for method, names in needs.items():
        if method in called_nodes:
            plan.parameters[method] = [*plan.parameters.get(method, ()), *names]
        else:
            uses = plan.iterators.setdefault(method, [])
            uses += [ListUse(name) for name in names if name not in {one.name for one in uses}]
    for _, call, called in self_calls:
        if called in plan.parameters:
            plan.extras[call] = [f"{name}={name}" for name in plan.parameters[called]]


def _use(name: str, sites: list[Site], recorder: Recorder) -> ListUse:
    """Return how the only method that goes through a list does that."""
    alone = [site for site in sites if not site.loops]
    looped = [site for site in sites if site.loops]
    loops = {site.loops for site in looped}
    is_even = (
        not recorder.plan.marks
        and not any(site.branches or site.is_open for site in sites)
        and not any(one.is_of_call for site in sites for one in site.conditions)
        and not any(site.conditions for site in alone)
        and all(len(one) == 1 for one in loops)
        and bool(loops)
    )
    return ListUse(name, snake_case(sites[0].class_name), len(alone) if is_even else None)


def _runs_once(recorder: Recorder, method: cst.FunctionDef) -> bool:
    """Whether a method runs once for each call of the module from outside."""
    calls = [caller for caller, _, called in recorder.self_calls if called is method]
    if any(one.is_repeated for one in recorder.log.about(Enter, method)) or len(calls) > 1:
        return False
    return not calls or _runs_once(recorder, calls[0])


def _add(needs: dict[cst.CSTNode, list[str]], method: cst.CSTNode, name: str) -> bool:
    names = needs.setdefault(method, [])
    if name in names:
        return False
    names.append(name)
    return True


def _edit(
    recorder: Recorder,
    node: cst.Call,
    edits: list[CallEdit],
    refer: Callable[[str], str],
    moving: Moving,
) -> None:
    wanted = [_written(recorder, node, edit, refer, moving) for edit in edits]
    different = dict.fromkeys(one for one in wanted if one is not None)
    if len(different) > 1 or (different and None in wanted):
        recorder.mark(node, "the submodules that are called here take different arguments")
        return
    recorder.plan.calls |= dict.fromkeys([node], *different) if different else {}


def _written(
    recorder: Recorder,
    node: cst.Call,
    edit: CallEdit,
    refer: Callable[[str], str],
    moving: Moving,
) -> Arguments | None:
    """Return the arguments of a call; None where they stay."""
    # What is rewritten within those of the file is there when the file is written.
    args = [
        argument(one.value, one.keyword.value if one.keyword else "", one.star) for one in node.args
    ]
    moved: dict[str, str] = {}
    if edit.site is not None and edit.site.is_bridged:
        if not edit.site.updates:
            return None
        args += arguments_of(mutable(refer))
    else:
        moved = moving.at_call(node, edit)
        cast_result(edit, node, recorder)
        dtype = cast_at(edit.site, node, recorder, recorder.plan.replacements)
        if edit.arguments is None and not moved and not dtype:
            return None
        if edit.arguments is not None:
            replacements: dict[cst.CSTNode, str | cst.BaseExpression]
            replacements = dict(recorder.plan.replacements.items())
            replacements |= {one.value: one.value for one in node.args}
            args = [
                argument(written_with(value, replacements), keyword)
                for keyword, value in edit.arguments
            ]
        if dtype:
            cast = cst.Attribute(args[0].value, cst.Name("astype"))
            value = cst.Call(cast, [cst.Arg(cst.parse_expression(dtype))])
            args[0] = args[0].with_changes(value=value)
    codes = [code if name[:2] == "**" else f"{name}={code}" for name, code in moved.items()]
    every = (*args, *arguments_of(", ".join(codes)))
    return Arguments(code_of(cst.Call(cst.Name("f"), every)), every)


CONSTRUCTS: Final = Helper("constructs")


def class_code(site: Site, recorder: Recorder, refer: Callable[[str], str]) -> str | None:
    """Return the expression for the class of a submodule; None where the file may not have it."""
    target = site.target
    if isinstance(target, LinenClass):
        return target.name if target.home == recorder.plan.cls.home else None
    layer = find_layer(target)
    if layer is None or not layer.nnx.startswith("nnx."):
        return None
    return refer(layer.nnx)


def chosen_constructor(
    codes: Iterable[tuple[Site, str]], recorder: Recorder, refer: Callable[[str], str]
) -> str | None:
    """Return the code that constructs whichever class a field holds; None if it cannot be told.

    Args:
        codes: The sites, and the code that constructs each; the first one is the default.
        recorder: What was seen of the module.
        refer: Gives the code for a public name.
    """
    (first, last), *others = codes
    if first.tests:
        every = [last, *(code for _, code in others)]
        *before, final = every if len(every) > len(first.tests) else [*every, first.otherwise]
        pairs = zip(before, first.tests, strict=True)
        return "(" + "".join(f"{code} if {test} else " for code, test in pairs) + f"{final})"
    text = ""
    for site, code in others:
        if code == last:
            continue
        name = class_code(site, recorder, refer)
        if name is None or site.code != first.code or not site.code.startswith("self."):
            return None
        text += f"{code} if {CONSTRUCTS.name}({site.code}, {name}) else "
    recorder.log.append(Need(CONSTRUCTS))
    return f"({text}{last})"


def chosen_keyword(
    name: str,
    code: str,
    sites: Iterable[Site],
    owner: Site,
    recorder: Recorder,
    refer: Callable[[str], str],
) -> str | None:
    """Return a keyword that only calls of some classes get; None where that cannot be told."""
    kinds = [class_code(site, recorder, refer) for site in sites]
    known = [kind for kind in kinds if kind is not None]
    reference = owner.reference
    is_plain = reference.startswith("self.") and reference.removeprefix("self.").isidentifier()
    if len(known) != len(kinds) or not is_plain:
        return None
    classes = known[0] if len(known) == 1 else f"({', '.join(known)})"
    return f"**({{{name!r}: {code}}} if isinstance({reference}, {classes}) else {{}})"


_MOVED: Final = frozenset({"setup", "__post_init__"})


class Moving:
    """Moves arguments of one module's constructors to calls, and gives its methods keywords."""

    def __init__(
        self,
        recorder: Recorder,
        facts: FieldFacts,
        plan_of: Callable[[LinenClass], ClassPlan],
        refer: Callable[[str], str],
    ) -> None:
        self._recorder = recorder
        self._facts = facts
        self._plan_of = plan_of
        self._refer = refer
        self._cls = recorder.plan.cls
        self._keywords = facts.keywords(self._cls)
        self._fields = {one.field: one.name for one in self._keywords if not one.path}
        self._needs: dict[cst.CSTNode, dict[str, None]] = {}
        self._reads: dict[cst.CSTNode, str] = {}
        self._reached: dict[Site, set[str]] = {}
        self._find_reads()

    # -- calls --------------------------------------------------------------------------------

    def at_call(self, node: cst.Call, edit: CallEdit) -> dict[str, str]:
        """Return the keywords that a call of a submodule gets, and what they are given."""
        site = edit.site
        if site is None:
            return {}
        found: dict[str, str] = {}
        options = {one: dict(self._wanted(one, edit.called)) for one in (site, *site.alternatives)}
        found |= self._of_some(options, site, node, edit)
        given = {arg.keyword.value for arg in node.args if arg.keyword is not None}
        for name, bound in options[site].items():
            if not all(name in wanted for wanted in options.values()):
                continue
            self._reached.setdefault(site, set()).add(name)
            code = self._spelled(self._substituted(bound, site, edit.frame), edit.frame)
            if code is None:
                self._recorder.mark(
                    node, f"`{name}` of this submodule is not known where it is called", CALL
                )
            elif name not in given:
                guarded = self._guarded(name, code, site, list(options))
                found[f"**{name}" if guarded else name] = guarded or code
        return found

    def _guarded(self, name: str, code: str, site: Site, options: list[Site]) -> str | None:
        """Return a keyword that only the known layers get, where a field may hold another one.

        None where all get it: Linen's constructor got it here, whatever the field holds.
        """
        is_open = site.code.startswith("self.") and isinstance(site.target, str)
        given = site.node.args
        is_for_all = any(arg.keyword is not None and arg.keyword.value == name for arg in given)
        if not is_open or is_for_all:
            return None
        return chosen_keyword(name, code, options, site, self._recorder, self._refer)

    def _of_some(
        self, options: dict[Site, dict[str, Passed]], site: Site, node: cst.Call, edit: CallEdit
    ) -> dict[str, str]:
        """Return the keywords that calls of only some of the classes of a submodule get."""
        found: dict[str, str] = {}
        for name in dict.fromkeys(name for wanted in options.values() for name in wanted):
            takers = [one for one, wanted in options.items() if name in wanted]
            if len(takers) == len(options):
                continue
            bound = self._substituted(options[takers[0]][name], site, edit.frame)
            code = self._spelled(bound, edit.frame)
            written = code and chosen_keyword(name, code, takers, site, self._recorder, self._refer)
            if written:
                self._reached.setdefault(site, set()).add(name)
                found[f"**{name}"] = written
            else:
                self._recorder.mark(
                    node, f"the classes that `{site.code}` may be are called differently", CALL
                )
        return found

    def _wanted(self, site: Site, method: str) -> Iterator[tuple[str, Passed]]:
        """Yield the arguments of a constructor that are given at calls of a method."""
        facts = self._facts
        if isinstance(site.target, LinenClass):
            child = self._plan_of(site.target)
            for keyword in child.keywords.get(method, ()):
                bound = facts.at_path(site.given, keyword)
                if bound is not None:
                    yield keyword.name, bound
            return
        for name, bound in movable(site):
            yield name, bound

    def _substituted(self, bound: Passed, site: Site, frame: Frame | None) -> Passed:
        """Return an argument in which a function is given something, with what the call gives it."""
        events = self._recorder.plan.log.about(BuildAtCall, site.node)
        place = bound.place
        if not events or not isinstance(place, Frame) or frame is None or frame.method is None:
            return bound
        call, function = events[0].call, events[0].function
        given = _given(call, function)
        rebound = {*bound_in(function.body)}
        used = [one for one in name_nodes(bound.node) if place.lookup(one.value) is not None]
        names = {one.value for one in used} - {"self"}
        if not names or not names <= given.keys() - rebound:
            return bound
        behind = {each for one in names for each in names_of(given[one])}
        if _is_bound_behind(behind, call, frame.method.node):
            return bound
        values: dict[cst.CSTNode, str | cst.BaseExpression]
        values = {one: wrapped(given[one.value]) for one in used if one.value in names}
        return replace(bound, node=written_with(bound.node, values), place=None)

    def _spelled(self, bound: Passed, frame: Frame | None) -> str | None:
        """Return an argument as code at a call; None where it is something else there."""
        if frame is None or frame.method is None:
            return None
        place = bound.place
        if isinstance(place, Frame) and not is_same_there(bound.node, place, frame):
            return None
        if self._recorder.plan.rebuilt.keys() & {bound.node, *descendants(bound.node)}:
            return None
        code = code_with(bound.node, {**self._recorder.plan.replacements, **self._reads})
        used = {
            one.value
            for one in descendants(cst.parse_expression(f"({code},)"))
            if isinstance(one, cst.Name)
        }
        for keyword in self._keywords:
            if keyword.name in used:
                self._need(frame.method.node, keyword.name)
        return code

    # -- methods ------------------------------------------------------------------------------

    def finish(self) -> None:
        """Give methods the keywords that they need, and mark what does not reach its place."""
        plan = self._recorder.plan
        self_calls = self._recorder.self_calls
        changed = True
        while changed:
            changed = False
            for caller, _, called in self_calls:
                for name in list(self._needs.get(called, ())):
                    changed = self._need(caller, name) or changed
        for _, call, called in self_calls:
            names = self._needs.get(called, {})
            if names:
                extras = plan.extras.setdefault(call, [])
                extras += [text for name in names if (text := f"{name}={name}") not in extras]
        by_name = {one.name: one for one in self._keywords}
        for method in self._cls.methods().values():
            names = self._needs.get(method.node, {})
            plan.keywords[method.name] = tuple(by_name[name] for name in names)
            there = {one.name.value for one in method.parameters()}
            added = [by_name[name] for name in names if name not in there]
            if added:
                plan.added[method.node] = [_line(one) for one in added]
        for site in plan.sites:
            self._check(site)

    def _check(self, site: Site) -> None:
        """Mark a submodule that is called where what moved to its calls is not known."""
        names = {name for name, _ in _moving(site, self._facts, self._plan_of)}
        if not names:
            return
        missing = (
            names
            if self._recorder.log.about(CallElsewhere, site)
            else names - self._reached.get(site, set())
        )
        if missing and not site.transforms and self._is_given_here(site):
            return
        for name in sorted(missing)[:1]:
            self._recorder.mark(
                site.node,
                f"`{name}` depends on what the method is called with, and it is not seen here"
                " how this submodule is called",
                CALL,
            )

    def _is_given_here(self, site: Site) -> bool:
        """Give a layer of a method what moves to its calls where it stands; return whether it can be."""
        moving = dict(movable(site))
        layer = self._recorder.plan.replacements.get(site.node)
        elsewhere = self._recorder.log.about(CallElsewhere, site)
        is_in_turn = bool(elsewhere) and all(one.is_in_turn for one in elsewhere)
        if not moving or site.is_verbatim or layer is None or not is_in_turn:
            return False
        codes = {
            name: self._spelled(one, one.place if isinstance(one.place, Frame) else None)
            for name, one in moving.items()
        }
        if None in codes.values():
            return False
        given = "".join(f", {name}={code}" for name, code in codes.items())
        partial = self._refer("functools.partial")
        self._recorder.replace(site.node, f"{partial}({layer}{given})")
        return True

    def _need(self, method: cst.CSTNode, name: str) -> bool:
        names = self._needs.setdefault(method, {})
        if name in names:
            return False
        names[name] = None
        return True

    def _find_reads(self) -> None:
        """Find where methods read fields that calls say, too."""
        plan = self._recorder.plan
        for method in self._cls.methods().values() if self._fields else ():
            merged = {name for name in self._fields if merges(method.node, name)}
            for node in descendants(method.node):
                match node:
                    case cst.Attribute(
                        value=cst.Name(value="self"), attr=cst.Name(value=field)
                    ) if field in self._fields:
                        name = self._fields[field]
                        if field not in merged:
                            self._reads[node] = name
                        if method.name not in _MOVED:
                            self._need(method.node, name)
                            if field not in merged and node not in plan.replacements:
                                self._recorder.replace(node, name)
                        else:
                            message = f"`{field}` depends on calls, and `{method.name}` reads it"
                            self._recorder.mark(node, message, CALL)


def _line(keyword: CallKeyword) -> tuple[str, str]:
    """Return a keyword of a method, and the line at its begin."""
    if keyword.path:
        return keyword.name, ""
    name = keyword.name
    return name, f"{name} = self.{keyword.field} if {name} is None else {name}"


def _moving(
    site: Site, facts: FieldFacts, plan_of: Callable[[LinenClass], ClassPlan]
) -> Iterator[tuple[str, Passed]]:
    """Yield the arguments of a constructor that are not written there."""
    if isinstance(site.target, str):
        yield from movable(site)
        return
    for keyword in facts.keywords(site.target):
        bound = facts.at_path(site.given, keyword)
        if bound is not None and keyword.name in {
            one.name for keywords in plan_of(site.target).keywords.values() for one in keywords
        }:
            yield keyword.name, bound


def _given(call: cst.Call, function: cst.FunctionDef | cst.Lambda) -> dict[str, cst.BaseExpression]:
    """Return what a call gives for the parameters of a function; nothing where that is not plain."""
    params = [one.name.value for one in function.params.params]
    if isinstance(function, cst.FunctionDef) and isinstance(call.func, cst.Attribute):
        params = params[1:]  # the object
    if any(arg.star for arg in call.args):
        return {}
    words = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    placed = [arg.value for arg in call.args if arg.keyword is None]
    return {**dict(zip(params, placed, strict=False)), **words}


def is_same_there(node: cst.BaseExpression, place: Frame, frame: Frame) -> bool:
    """Whether an expression of a method is the same at a call as where it stands."""
    names = {
        one.value
        for one in (node, *descendants(node))
        if isinstance(one, cst.Name) and one.value != "self" and place.lookup(one.value) is not None
    }
    if not names:
        return True
    # Either may be in a function of the method.
    its, mine = [*_around(place)], [*_around(frame)]
    common = next((one for one in mine if any(one is other for other in its)), None)
    if common is None or common.method is None:
        return False
    between = [takewhile(lambda one: one is not common, frames) for frames in (its, mine)]
    is_bound = any(names & {*one.names} for frames in between for one in frames)
    return not is_bound and not _is_bound_behind(names, node, common.method.node)


def _around(frame: Frame | None) -> Iterator[Frame]:
    """Yield a frame and those around it."""
    while frame is not None:
        yield frame
        frame = frame.outer


def _is_bound_behind(names: set[str], node: cst.CSTNode, method: cst.FunctionDef) -> bool:
    """Whether a method binds any of the names behind an expression: where it stands they are others."""
    below = list(descendants(method.body))
    if node not in below:
        return True
    return any(
        names & set(names_in(one.target))
        for one in below[below.index(node) :]
        if isinstance(one, _BINDING)
    )


_BINDING: Final = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)
