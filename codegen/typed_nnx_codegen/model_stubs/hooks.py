"""The text that says which State class belongs to which model and filter: `Hooks`, and functions for flax.

A model leads to the list of its State classes, and that to the State class. For mypy and pyright it does
so by an overload for each model. pyrefly and ty do not look at the type of `self` where they compare an
overloaded method with that of a protocol, but they ask a descriptor, which pyright does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import indent

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.models import ClassInfo, Kind, Named
from typed_nnx_codegen.model_stubs.names import StateNames
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part
from typed_nnx_codegen.model_stubs.plan import Plan
from typed_nnx_codegen.model_stubs.rows import overloads
from typed_nnx_codegen.model_stubs.spelling import Speller, applied, own_parameters

_HAS_STATES = """\
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
    Everything: _State[_Any, _Any, _A, _Any]

"""

_HOOKS = '''\
# pyright takes the last definition of a name where it does not know which one counts; others the first.
_DESCRIBED: _Literal[True]
class Hooks(_StateHooks):
    """The base of every Pytree: asks the model for its State classes."""

    if not MYPY and _DESCRIBED:
        __nnx_list__: _Lists
    else:
{members}        @_property
        def __nnx_list__(self: _HasStates[_S], /) -> _S: ...
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

_MEMBER = "    def __nnx_states__(self: {model}, /) -> {states}: ..."
_HAS = "_HasList[_Has{part}[_S]]"
_STATE = f"    def __nnx_state__(self: {_HAS}, /) -> _S: ..."
_ANSWER = f"    def {{method}}(self: {_HAS}, taken: {{taken}}, /) -> _S: ..."
_WITHOUT_CLASS = (
    "    def __nnx_part__(self: _A, taken: {taken}, /) -> _State[_Any, _Any, _A, _Any]: ..."
)


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
        pairs = [pair for info in (*models, *self._plan.containers) for pair in self._members(info)]
        members = [_MEMBER.format(model=model, states=found) for model, found in pairs]
        others = _MEMBER.format(model="_A", states="_Others[_A]")
        # None for other classes: pyrefly takes a type variable for its bound, such as `Module`.
        answers = overloads([_LIST.format(model=model, states=found) for model, found in pairs])
        return "".join(
            [
                _HAS_STATES,
                *protocols,
                *(self._list(info, lists[info.name]) for info in models),
                *(self._list_of_items(info, asked) for info in self._plan.containers),
                _OTHERS,
                _LISTS.format(answers=answers),
                _HOOKS.format(members=indent(overloads([*members, others]), "    ")),
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
        parameters = ", ".join(own_parameters(info))
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
        return applied(self._names[info.name, part], own_parameters(info))

    def _members(self, info: ClassInfo) -> list[tuple[str, str]]:
        """Return the types of a model with those of the list of its State classes."""
        model, states = self._speller.model(info), self._states_of(info)
        parameters = own_parameters(info)
        pairs = [(model, applied(states, parameters))]
        if len(parameters) == 1:
            # Variables and arrays have no State that could be asked for: they are in it themselves.
            pairs.insert(0, (model.replace(parameters[0], "_V"), f"{states}[_Holds[_V]]"))
        return pairs


# -- functions for models of flax -------------------------------------------------------------

# flax asks nothing of the object, so there is an overload for each model and filter. At run time the
# functions are those of flax; the user imports these under ``TYPE_CHECKING``.
_OPTIONS = "*, graph: bool | None = None"

_STATE_OTHERS = f"def state(node: object, /, *filters: _Any, {_OPTIONS[3:]}) -> _Any: ..."
_SPLIT_OTHERS = (
    f"def split(node: _A, /, *filters: _Any, {_OPTIONS[3:]})"
    " -> tuple[_GraphDef[_A], *tuple[_Any, ...]]: ..."
)


class FlaxFunctionsWriter:
    """Writes the functions.

    Args:
        names: The names of the State classes.
    """

    def __init__(self, plan: Plan, names: StateNames, speller: Speller) -> None:
        self._plan = plan
        self._names = names
        self._speller = speller

    def write(self) -> str:
        """Return the text of both functions."""
        models = self._plan.subclasses_first()
        states = [each for info in models for each in self._states(info)]
        splits = [each for info in models for each in self._splits(info)]
        return f"{overloads([*states, _STATE_OTHERS])}\n{overloads([*splits, _SPLIT_OTHERS])}"

    def _result(self, info: ClassInfo, part: Part) -> str:
        return applied(self._names[info.name, part], ["_Any"] * len(info.parameters))

    def _states(self, info: ClassInfo) -> Iterator[str]:
        for part in self._plan.parts[info.name]:
            if not part.left:
                taken = f", taken: {self._speller.filter_type(part.taken)}" if part.taken else ""
                result = self._result(info, part)
                yield f"def state(node: {self._model(info)}{taken}, /, {_OPTIONS}) -> {result}: ..."

    def _splits(self, info: ClassInfo) -> Iterator[str]:
        model = self._model(info)
        graphdef = f"_GraphDef[{model}]"
        everything = self._result(info, EVERYTHING)
        yield f"def split(node: {model}, /, {_OPTIONS}) -> tuple[{graphdef}, {everything}]: ..."
        parts = self._plan.parts[info.name]
        for part in parts:
            # What only fields of other States need has no answer here.
            for kind in (each for each in part.left if Part(taken=each) in parts):
                taken = self._result(info, Part(taken=kind))
                yield (
                    f"def split(node: {model}, taken: {self._speller.filter_type(kind)}, "
                    f"rest: _Everything, /, {_OPTIONS})"
                    f" -> tuple[{graphdef}, {taken}, {self._result(info, part)}]: ..."
                )

    def _model(self, info: ClassInfo) -> str:
        return self._speller.plain(Named(info.name))
