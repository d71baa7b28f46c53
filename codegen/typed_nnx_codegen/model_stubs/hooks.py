"""The text of `Hooks`: which State class belongs to which model and filter.

Checkers try one overload after the other, at each use, so no method may have many. A model leads to
its group, the group to the list of State classes of the model, and that to the State class: for 300
models each method has about 20 overloads.

That is for mypy and pyright. pyrefly and ty do not look at the type of `self` where they compare an
overloaded method with that of a protocol, but they ask a descriptor, which pyright does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from textwrap import indent

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.models import ClassInfo, Kind, Named
from typed_nnx_codegen.model_stubs.names import StateNames
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part
from typed_nnx_codegen.model_stubs.plan import Plan
from typed_nnx_codegen.model_stubs.rows import overloads
from typed_nnx_codegen.model_stubs.spelling import Speller

_HAS_STATES = """\
class _HasGroup(_Protocol[_C]):
    def __nnx_group__(self, /) -> _C: ...

class _HasStates(_Protocol[_C]):
    def __nnx_states__(self, /) -> _C: ...

class _HasList(_Protocol[_C]):
    @_property
    def __nnx_list__(self, /) -> _C: ...

"""

_HAS_PART = """\
class _Has{part}(_Protocol[_C]):
    @_property
    def {part}(self, /) -> _C: ...

"""

_OTHERS = """\
class _Others(_Generic[_A]):
    def __nnx_states__(self, /) -> _Others[_A]: ...
    Everything: _State[_Any, _Any, _A, _Any]

"""

_HOOKS = '''\
# pyright takes the last definition of a name where it does not know which one counts; others the first.
_DESCRIBED: _Literal[True]
class Hooks:
    """The base of every Pytree: asks the model for its State classes."""

    if not MYPY and _DESCRIBED:
        __nnx_list__: _Lists
    else:
{groups}        @_property
        def __nnx_list__(self: _HasGroup[_HasStates[_S]], /) -> _S: ...
'''

_LISTS = """\
class _Lists:
    \"""A descriptor of the State classes of a model.\"""
{answers}
"""

_LIST = "    def __get__(self, instance: {model}, owner: _Any = None, /) -> {states}: ..."

_OF_ITEMS = """\
    @_property
    def {part}(self: {states}[{item}], /) -> {state}[_S0]: ...
"""

_GROUP_OF_OTHERS = "    def __nnx_group__(self: _A, /) -> _Others[_A]: ..."
_GROUP = "    def __nnx_group__(self: {member}, /) -> {group}[{member}]: ..."
_MEMBER = "    def __nnx_states__(self: {group}[{model}], /) -> {states}: ..."
_HAS = "_HasList[_Has{part}[_S]]"
_STATE = f"    def __nnx_state__(self: {_HAS}, /) -> _S: ..."
_ANSWER = f"    def {{method}}(self: {_HAS}, taken: {{taken}}, /) -> _S: ..."
_WITHOUT_CLASS = (
    "    def __nnx_part__(self: _A, taken: {taken}, /) -> _State[_Any, _Any, _A, _Any]: ..."
)


_SMALLEST_GROUP = 8


class HooksWriter:
    """Writes `Hooks` and the classes that it needs.

    Args:
        names: The names of the State classes.
    """

    def __init__(self, plan: Plan, contents: Contents, names: StateNames, speller: Speller) -> None:
        self._plan = plan
        self._contents = contents
        self._variables = contents.variables
        self._names = names
        self._speller = speller
        self._used = {part.taken for parts in plan.parts.values() for part in parts} - {""}

    def write(self) -> str:
        """Return the text."""
        models = self._plan.subclasses_first()
        lists = {info.name: self._states(info) for info in models}
        asked = {part for states in lists.values() for part in states}
        kinds = self._variables.specific_first(
            frozenset(kind for part in asked for kind in part.filters)
        )
        taken = [Part(taken=kind) for kind in kinds if Part(taken=kind) in asked]
        left = [Part(left=(kind,)) for kind in kinds if Part(left=(kind,)) in asked]
        protocols = [
            _HAS_PART.format(part=self._label(part)) for part in [EVERYTHING, *taken, *left]
        ]
        groups = _groups([*models, *self._plan.containers])
        names = [f"_Group{index}" for index in range(len(groups))]
        members = [_GROUP.format(member=f"{name}Member", group=name) for name in names]
        grouped = indent(overloads([*members, _GROUP_OF_OTHERS]), "    ")
        # None for other classes: pyrefly takes a type variable for its bound, such as `Module`.
        pairs = [pair for group in groups for info in group for pair in self._members(info)]
        answers = overloads([_LIST.format(model=model, states=found) for model, found in pairs])
        return "".join(
            [
                _HAS_STATES,
                *protocols,
                *(self._list(info, lists[info.name]) for info in models),
                *(self._list_of_items(info, asked) for info in self._plan.containers),
                *(self._group(name, group) for name, group in zip(names, groups, strict=True)),
                _OTHERS,
                _LISTS.format(answers=answers),
                _HOOKS.format(groups=grouped),
                f"{_STATE.format(part='Everything')}\n",
                self._parts(taken),
                self._rests(left),
            ]
        )

    def _label(self, part: Part) -> str:
        return self._names.part(part) or "Everything"

    def _answer(self, method: str, part: Part, taken: str) -> str:
        return _ANSWER.format(method=method, part=self._label(part), taken=taken)

    def _unused(self) -> list[str]:
        """Return the filters that derive from used ones and of which no model has a part."""
        derived = {name for kind in self._used for name in self._variables.subclasses(kind)}
        return sorted(derived - self._used)

    def _union(self, filters: Iterable[str]) -> str:
        return " | ".join(map(self._speller.filter_type, filters))

    def _parts(self, parts: list[Part]) -> str:
        # What has no State classes of its own gets those of the class it derives from.
        unused = self._union(filter(self._variables.has_states, self._unused()))
        return self._asked(
            "__nnx_part__",
            parts,
            [_WITHOUT_CLASS.format(taken=unused)] if unused else [],
            # Other types may be of Variables that come later, such as `Intermediate`. Other filters,
            # such as `PathContains`, take some of what there is.
            [_WITHOUT_CLASS.format(taken="type | tuple[_Any, ...] | list[_Any]")],
        )

    def _rests(self, parts: list[Part]) -> str:
        unused = self._union(self._unused())
        first = [self._answer("__nnx_rest__", EVERYTHING, unused)] if unused else []
        return self._asked("__nnx_rest__", parts, first, [])

    def _asked(self, method: str, parts: list[Part], first: list[str], last: list[str]) -> str:
        """Return a method that has an answer for each part, and all leaves for other filters."""
        answers = [
            self._answer(method, part, self._speller.filter_type(*part.filters)) for part in parts
        ]
        return overloads([*first, *answers, *last, self._answer(method, EVERYTHING, "object")])

    def _states(self, info: ClassInfo) -> dict[Part, str]:
        """Return the types of the State of a model under each filter that needs an answer."""
        everything = self._applied(info, EVERYTHING)
        states = {EVERYTHING: everything}
        kinds = {part.taken for part in self._plan.parts[info.name] if part.taken}
        for kind in kinds:
            states[Part(taken=kind)] = self._applied(info, Part(taken=kind))
            rest = self._contents.state_of(info.name, Part(left=(kind,)))
            is_written = rest in self._plan.parts[info.name]
            states[Part(left=(kind,))] = self._applied(info, rest) if is_written else everything
        # Without an answer of its own a subclass would get that of the class it derives from.
        derived = {name for kind in kinds for name in self._variables.subclasses(kind)}
        for kind in derived & self._used - kinds:
            taken = self._speller.filter_type(kind)
            states[Part(taken=kind)] = self._speller.state_of(self._speller.model(info), taken)
            states[Part(left=(kind,))] = everything
        return dict(sorted(states.items()))

    def _list(self, info: ClassInfo, states: dict[Part, str]) -> str:
        parameters = ", ".join(_parameters(info))
        generic = f"(_Generic[{parameters}])" if parameters else ""
        lines = [f"class {self._names.list_of(info.name)}{generic}:"]
        lines += [f"    {self._label(part)}: {state}" for part, state in states.items()]
        return "\n".join(lines) + "\n\n"

    def _list_of_items(self, info: ClassInfo, parts: set[Part]) -> str:
        """Return the State classes of a container, which are as those of its items."""
        states = self._states_of(info)
        methods = [
            _OF_ITEMS.format(
                part=self._label(part),
                states=states,
                item=self._speller.protocol(part, "_S0"),
                state=states.removeprefix("_").removesuffix("s"),
            )
            for part in sorted(parts | {EVERYTHING})
            if len(part.left) < 2
        ]
        return f"class {states}(_Generic[_P0]):\n{''.join(methods)}\n"

    def _states_of(self, info: ClassInfo) -> str:
        """Return the name of the class that lists the State classes of a model or a container."""
        if info.kind is Kind.PYTREE:
            return self._names.list_of(info.name)
        return "_ListStates" if info.kind is Kind.LIST else "_DictStates"

    def _applied(self, info: ClassInfo, part: Part) -> str:
        parameters = ", ".join(_parameters(info))
        return self._names[info.name, part] + (f"[{parameters}]" if parameters else "")

    def _group(self, name: str, models: list[ClassInfo]) -> str:
        """Return the text of a group: the type of its members, and their State classes."""
        members = " | ".join(self._speller.plain(Named(info.name)) for info in models)
        pairs = [pair for info in models for pair in self._members(info)]
        methods = overloads(
            [_MEMBER.format(group=name, model=model, states=found) for model, found in pairs]
        )
        return (
            f'{name}Member = _TypeVar("{name}Member", bound={members})\n'
            f"class {name}(_Generic[_C]):\n{methods}\n"
        )

    def _members(self, info: ClassInfo) -> list[tuple[str, str]]:
        """Return the types of a model with those of the list of its State classes."""
        model, states = self._speller.model(info), self._states_of(info)
        parameters = _parameters(info)
        pairs = [(model, f"{states}[{', '.join(parameters)}]" if parameters else states)]
        if len(parameters) == 1:
            # Variables and arrays have no State that could be asked for: they are in it themselves.
            pairs.insert(0, (model.replace(parameters[0], "_V"), f"{states}[_Holds[_V]]"))
        return pairs


def _groups(models: list[ClassInfo]) -> list[list[ClassInfo]]:
    """Return the models in groups of the size that makes the number of groups about the same."""
    size = max(_SMALLEST_GROUP, math.isqrt(len(models)) + 1)
    return [models[start : start + size] for start in range(0, len(models), size)]


def _parameters(info: ClassInfo) -> list[str]:
    return [f"_P{index}" for index in range(len(info.parameters))]
