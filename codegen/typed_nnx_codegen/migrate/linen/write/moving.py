"""Arguments and classes that only calls or fields know: how constructors are given them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    Bound,
    CallElsewhere,
    CallKeyword,
    ClassPlan,
    Need,
    Site,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.frames import CallEdit, Frame, Recorder
from typed_nnx_codegen.migrate.linen.domain.markers import CALL
from typed_nnx_codegen.migrate.linen.layers import Helper, find_layer
from typed_nnx_codegen.migrate.linen.project.fields import FieldFacts, merges

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
    """Return a keyword that only calls of some classes get; None where that cannot be told.

    Args:
        name: The keyword.
        code: Its value.
        sites: The sites of the classes that take it.
        owner: The site of the submodule that is called.
        recorder: What was seen of the module.
        refer: Gives the code for a public name.
    """
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
    """Moves arguments of one module's constructors to calls, and gives its methods keywords.

    Args:
        recorder: What was seen of the module.
        facts: What is known of fields.
        plan_of: Plans another module of the project.
        refer: Gives the code for a public name.
    """

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
            code = self._spelled(bound, edit.frame, node)
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
        self, options: dict[Site, dict[str, Bound]], site: Site, node: cst.Call, edit: CallEdit
    ) -> dict[str, str]:
        """Return the keywords that calls of only some of the classes of a submodule get."""
        found: dict[str, str] = {}
        for name in dict.fromkeys(name for wanted in options.values() for name in wanted):
            takers = [one for one, wanted in options.items() if name in wanted]
            if len(takers) == len(options):
                continue
            code = self._spelled(options[takers[0]][name], edit.frame, node)
            written = code and chosen_keyword(name, code, takers, site, self._recorder, self._refer)
            if written:
                self._reached.setdefault(site, set()).add(name)
                found[f"**{name}"] = written
            else:
                self._recorder.mark(
                    node, f"the classes that `{site.code}` may be are called differently", CALL
                )
        return found

    def _wanted(self, site: Site, method: str) -> Iterator[tuple[str, Bound]]:
        """Yield the arguments of a constructor that are given at calls of a method."""
        facts = self._facts
        if isinstance(site.target, LinenClass):
            child = self._plan_of(site.target)
            for keyword in child.keywords.get(method, ()):
                bound = facts.at_path(site.given, keyword)
                if bound is not None:
                    yield keyword.name, bound
            return
        for name, bound in _movable(site):
            yield name, bound

    def _spelled(self, bound: Bound, frame: Frame | None, node: cst.Call) -> str | None:
        """Return an argument as code at a call; None where it is something else there."""
        if bound.node is None or frame is None or frame.method is None:
            return None
        place = bound.place
        if isinstance(place, Frame) and not is_same_there(bound.node, place, frame, node):
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
        if site.transforms:
            missing = names
        for name in sorted(missing)[:1]:
            self._recorder.mark(
                site.node,
                f"`{name}` depends on what the method is called with, and it is not seen here"
                " how this submodule is called",
                CALL,
            )

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
                        elif not self._is_moved(node, method.node):
                            message = f"`{field}` depends on calls, and `{method.name}` reads it"
                            self._recorder.mark(node, message, CALL)

    def _is_moved(self, node: cst.CSTNode, method: cst.FunctionDef) -> bool:
        """Whether a part of `setup` is in an argument that is given at calls instead."""
        del method
        return any(
            bound.node is not None and (bound.node is node or node in set(descendants(bound.node)))
            for site in self._recorder.plan.sites
            for _, bound in _moving(site, self._facts, self._plan_of)
        )


def _line(keyword: CallKeyword) -> tuple[str, str]:
    """Return a keyword of a method, and the line at its begin."""
    if keyword.path:
        return keyword.name, ""
    name = keyword.name
    return name, f"{name} = self.{keyword.field} if {name} is None else {name}"


def _movable(site: Site) -> Iterator[tuple[str, Bound]]:
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    if layer is None:
        return
    for name, one in site.given.items():
        if one.code is None and name in layer.movable and one.node is not None:
            yield name, one


def _moving(
    site: Site, facts: FieldFacts, plan_of: Callable[[LinenClass], ClassPlan]
) -> Iterator[tuple[str, Bound]]:
    """Yield the arguments of a constructor that are not written there."""
    if isinstance(site.target, str):
        yield from _movable(site)
        return
    for keyword in facts.keywords(site.target):
        bound = facts.at_path(site.given, keyword)
        if bound is not None and keyword.name in {
            one.name for keywords in plan_of(site.target).keywords.values() for one in keywords
        }:
            yield keyword.name, bound


def is_same_there(node: cst.BaseExpression, place: Frame, frame: Frame, call: cst.Call) -> bool:
    """Whether an expression of a method is the same at a call as where it stands."""
    names = {
        one.value
        for one in (node, *descendants(node))
        if isinstance(one, cst.Name) and one.value != "self" and place.lookup(one.value) is not None
    }
    if not names:
        return True
    around: Frame | None = frame
    while around is not None and around is not place:
        if names & set(around.names):
            return False
        around = around.outer
    if around is None or place.method is None:
        return False
    return not _is_bound_between(names, node, call, place.method.node)


def _is_bound_between(
    names: set[str], node: cst.CSTNode, call: cst.CSTNode, method: cst.FunctionDef
) -> bool:
    """Whether any of the names is bound anew between an expression and a call, or in a loop."""
    order = {one: position for position, one in enumerate(descendants(method.body))}
    first, last = order.get(node, -1), order.get(call, -1)
    if first < 0 or last < 0:
        return True
    # What is called is above its arguments: where the constructor is called at once, the call
    # comes before the argument.
    for target, position in order.items():
        if isinstance(target, cst.Name) and target.value in names and _binds(target, order):
            if first < position < last:
                return True
            loops = [
                one
                for one in order
                if isinstance(one, (cst.For, cst.While))
                and _within(target, one)
                and _within(call, one)
                and not _within(node, one)
            ]
            if loops:
                return True
    return False


def _within(node: cst.CSTNode, around: cst.CSTNode) -> bool:
    return any(one is node for one in descendants(around))


def _binds(name: cst.Name, nodes: dict[cst.CSTNode, int]) -> bool:
    for node in nodes:
        match node:
            case (
                cst.AssignTarget(target=target)
                | cst.AugAssign(target=target)
                | cst.AnnAssign(target=target)
                | cst.For(target=target)
                | cst.NamedExpr(target=target)
            ):
                if target is name or _within(name, target):
                    return True
    return False
