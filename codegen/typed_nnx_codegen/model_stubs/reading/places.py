"""What a value of a type is in a State: which place it has there, if any."""

from __future__ import annotations

from collections.abc import Callable

from typed_nnx_codegen.model_stubs.models import (
    Absent,
    Kind,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
    Unknown,
)
from typed_nnx_codegen.model_stubs.reading.kinds import Kinds
from typed_nnx_codegen.model_stubs.reading.symbols import bases
from typed_nnx_codegen.model_stubs.reading.type_facts import (
    NOTHING,
    parameters_of,
    substitute,
    united,
)

_LIST = "builtins:list"
_DICT = "builtins:dict"


class Places:
    """Finds the places of types for the attributes of one class.

    Args:
        need: Is told the name of every class that a place needs.
        is_plain: Whether plain containers with data are data without a mark, too.
    """

    def __init__(self, kinds: Kinds, need: Callable[[str], None], is_plain: bool) -> None:
        self._kinds = kinds
        self._need = need
        self._is_plain = is_plain

    def place(self, found: Type, mark: str = "", callable_is_static: bool = True) -> Type:
        """Return a type of facts as a type of models.

        Args:
            found: The type in facts.
            mark: ``data``, ``static`` or nothing.
            callable_is_static: Whether a value that can be called is taken for a function; in a
                list of layers it may be a Module.
        """
        if mark == "static":
            return Static(text_of(found))
        match found:
            case Named():
                return self._named(found, mark)
            case Union(()):
                return Unknown("no value was seen")
            case Union(items):
                return united(self.place(each, mark, callable_is_static) for each in items)
            case Tuple(items):
                return self._tuple(found, items, mark)
            case Static():
                if mark == "data" or not callable_is_static:
                    return Unknown("what can be called may be a Module")
                return found
            case Absent() | Unknown() | Parameter():
                return found

    def _named(self, found: Named, mark: str) -> Type:
        name = found.name
        kind = self._kinds.kind(name)
        match kind:
            case Kind.VARIABLE | Kind.ARRAY:
                return self.value(found)
            case Kind.PYTREE:
                self._need(name)
                arguments = tuple(self.place(each) for each in found.arguments)
                return Named(self._kinds.public(name), arguments)
            case Kind.LIST | Kind.DICT:
                return self._container(found)
            case None:
                return self._other(found, mark)

    def _container(self, found: Named) -> Type:
        """Return a List, Dict or Rngs; subclasses that add nothing are the same."""
        info = self._kinds.info(found.name)
        assert info is not None  # it has a kind
        base = self._kinds.container(info)
        if found.name != base:
            names = dict(zip(parameters_of(info), found.arguments, strict=False))
            above = next(each for each in bases(info) if each.name == base)
            found = Named(base, tuple(substitute(each, names) for each in above.arguments))
        self._need(base)
        elements = found.arguments or (Named(self._kinds.stream()),)
        places = tuple(self.place(each, callable_is_static=False) for each in elements)
        return Named(self._kinds.public(base), places)

    def _other(self, found: Named, mark: str) -> Type:
        name = found.name
        if self._kinds.is_list(name) or self._kinds.is_dict(name):
            return self._plain_container(found, mark)
        info = self._kinds.info(name)
        if info is not None and self._kinds.may_be_model(info):
            return Unknown(f"what is declared as {text_of(found)} may be a model")
        if mark != "data":
            return Static(text_of(found))
        if self._kinds.is_scalar(name):
            return self.value(found)
        return Unknown(f"it is not known what data a {text_of(found)} has")

    def _plain_container(self, found: Named, mark: str) -> Type:
        if mark != "data" and not self._has_data(found.arguments[-1:]):
            return Static(text_of(found))
        elements = [self.place(each, "data") for each in found.arguments[-1:]]
        name = _LIST if self._kinds.is_list(found.name) else _DICT
        self._need(name)
        return Named(name, tuple(elements))

    def _tuple(self, found: Type, items: tuple[Type, ...], mark: str) -> Type:
        if mark == "data" or self._has_data(items):
            return Tuple(tuple(self.place(each, "data") for each in items))
        return Static(text_of(found))

    def _has_data(self, elements: tuple[Type, ...]) -> bool:
        """Tell whether a plain container is data without a mark."""
        return self._is_plain and any(_has_place(self.place(each)) for each in elements)

    def value(self, found: Type) -> Type:
        """Return a type as that of a value, in which every class stands for itself."""
        match found:
            case Named(name, arguments):
                self._need(name)
                if self._kinds.kind(name) is Kind.ARRAY:
                    return Named(self._kinds.public(name))
                return Named(self._kinds.public(name), tuple(map(self.value, arguments)))
            case Union(items):
                return united(map(self.value, items)) if found != NOTHING else Unknown("no value")
            case Tuple(items):
                return Tuple(tuple(map(self.value, items)))
            case _:
                return found


def _has_place(found: Type) -> bool:
    match found:
        case Named(_, arguments):
            return found.name not in (_LIST, _DICT) or any(map(_has_place, arguments))
        case Union(items) | Tuple(items):
            return any(map(_has_place, items))
        case _:
            return isinstance(found, Parameter)


def text_of(found: Type) -> str:
    """Return a type as text, for people."""
    match found:
        case Named(name, arguments):
            short = name.partition(":")[2]
            inside = ", ".join(map(text_of, arguments))
            return f"{short}[{inside}]" if arguments else short
        case Union(items):
            return " | ".join(map(text_of, items)) or "Never"
        case Tuple(items):
            return f"tuple[{', '.join(map(text_of, items))}]"
        case Parameter(name):
            return name
        case Static(text):
            return text
        case Absent():
            return "None"
        case Unknown():
            return "Any"
