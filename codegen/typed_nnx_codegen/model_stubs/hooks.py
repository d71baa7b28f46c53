"""The text of `Hooks`: which State class belongs to which model and filter.

Checkers need time that grows with the square of the number of overloads of a method. So there is
one method with an overload per model, which leads to a class that lists the State classes of the
model, and the methods that the library asks have an overload per Variable class.
"""

from __future__ import annotations

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.models import ClassInfo, Named, Parameter
from typed_nnx_codegen.model_stubs.names import StateNames
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part
from typed_nnx_codegen.model_stubs.plan import Plan
from typed_nnx_codegen.model_stubs.spelling import Speller

_HAS_STATES = """\
class _HasStates(_Protocol[_C]):
    def __nnx_states__(self, /) -> _C: ...

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
class Hooks:
    """The base of every Pytree: asks the model for its State classes."""

'''

_OVERLOAD = "    @_overload"

_STATES_OF_OTHERS = "    def __nnx_states__(self: _A, /) -> _Others[_A]: ..."
_STATE = "    def __nnx_state__(self: _HasStates[_HasEverything[_S]], /) -> _S: ..."
_ANSWER = "    def {method}(self: _HasStates[_Has{part}[_S]], taken: {taken}, /) -> _S: ..."
_PART_OF_OTHERS = "    def __nnx_part__(self: _A, taken: _F, /) -> _State[_Any, _Any, _A, _F]: ..."


class HooksWriter:
    """Writes `Hooks` and the classes that it needs.

    Args:
        plan: The models and their parts.
        contents: What is below each class.
        names: The names of the State classes.
        speller: Spells types.
    """

    def __init__(self, plan: Plan, contents: Contents, names: StateNames, speller: Speller) -> None:
        self._plan = plan
        self._contents = contents
        self._variables = contents.variables
        self._names = names
        self._speller = speller

    def write(self) -> str:
        """Return the text."""
        models = self._plan.subclasses_first()
        lists = {info.name: self._states(info) for info in models}
        asked = {part for states in lists.values() for part in states}
        kinds = self._variables.specific_first(frozenset(part.variable for part in asked) - {""})
        taken = [Part(taken=kind) for kind in kinds if Part(taken=kind) in asked]
        left = [Part(left=kind) for kind in kinds if Part(left=kind) in asked]
        protocols = [
            _HAS_PART.format(part=self._label(part)) for part in [EVERYTHING, *taken, *left]
        ]
        methods = [line for info in models for line in self._receivers(info)]
        return "".join(
            [
                _HAS_STATES,
                *protocols,
                *(self._list(info, lists[info.name]) for info in models),
                _OTHERS,
                _HOOKS,
                _overloads(methods, _STATES_OF_OTHERS),
                f"{_STATE}\n",
                _overloads(self._parts(taken), _PART_OF_OTHERS),
                _overloads(self._rests(left), self._answer("__nnx_rest__", EVERYTHING, "object")),
            ]
        )

    def _label(self, part: Part) -> str:
        return self._names.part(part) or "Everything"

    def _answer(self, method: str, part: Part, taken: str) -> str:
        return _ANSWER.format(method=method, part=self._label(part), taken=taken)

    def _parts(self, parts: list[Part]) -> list[str]:
        answers = [
            self._answer("__nnx_part__", part, self._speller.filter_type(part.taken))
            for part in parts
        ]
        return [*answers, self._answer("__nnx_part__", EVERYTHING, "_Everything")]

    def _rests(self, parts: list[Part]) -> list[str]:
        return [
            self._answer("__nnx_rest__", part, self._speller.filter_type(part.left))
            for part in parts
        ]

    def _states(self, info: ClassInfo) -> dict[Part, str]:
        """Return the types of the State of a model under each filter that needs an answer."""
        everything = self._applied(info, EVERYTHING)
        states = {EVERYTHING: everything}
        kinds = {part.taken for part in self._plan.parts[info.name] if part.taken}
        for kind in kinds:
            states[Part(taken=kind)] = self._applied(info, Part(taken=kind))
            rest = self._contents.state_of(info.name, Part(left=kind))
            states[Part(left=kind)] = self._applied(info, rest)
        # Without an answer of its own a subclass would get that of the class it derives from.
        derived = {name for kind in kinds for name in self._variables.subclasses(kind)}
        for kind in derived - kinds:
            taken = self._speller.filter_type(kind)
            states[Part(taken=kind)] = self._speller.state_of(self._model(info), taken)
            states[Part(left=kind)] = everything
        return dict(sorted(states.items()))

    def _list(self, info: ClassInfo, states: dict[Part, str]) -> str:
        parameters = ", ".join(_parameters(info))
        generic = f"(_Generic[{parameters}])" if parameters else ""
        lines = [f"class {self._names.list_of(info.name)}{generic}:"]
        lines += [f"    {self._label(part)}: {state}" for part, state in states.items()]
        return "\n".join(lines) + "\n\n"

    def _applied(self, info: ClassInfo, part: Part) -> str:
        parameters = ", ".join(_parameters(info))
        return self._names[info.name, part] + (f"[{parameters}]" if parameters else "")

    def _model(self, info: ClassInfo) -> str:
        itself = Named(info.name, tuple(Parameter(name) for name in info.parameters))
        return self._speller.plain(itself, info.parameters)

    def _receivers(self, info: ClassInfo) -> list[str]:
        """Return the overloads that lead from a model to the list of its State classes."""
        model, states = self._model(info), self._names.list_of(info.name)
        parameters = _parameters(info)
        pairs = [(model, f"{states}[{', '.join(parameters)}]" if parameters else states)]
        if len(parameters) == 1:
            # Variables and arrays have no State that could be asked for: they are in it themselves.
            pairs.insert(0, (model.replace(parameters[0], "_V"), f"{states}[_Holds[_V]]"))
        return [
            f"    def __nnx_states__(self: {each}, /) -> {result}: ..." for each, result in pairs
        ]


def _parameters(info: ClassInfo) -> list[str]:
    return [f"_P{index}" for index in range(len(info.parameters))]


def _overloads(methods: list[str], last: str) -> str:
    if not methods:
        return f"{last}\n"
    return "".join(f"{_OVERLOAD}\n{method}\n" for method in [*methods, last])
