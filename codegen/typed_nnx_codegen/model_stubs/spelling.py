"""How a type of an attribute is written in a State class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.models import (
    ClassInfo,
    Kind,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
    Unknown,
)
from typed_nnx_codegen.model_stubs.names import Imports
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part, is_bare
from typed_nnx_codegen.model_stubs.rows import Rows

_NO_FIELDS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Spelled:
    """A type as text.

    Attributes:
        text: The text.
        reasons: Why something in it is Any.
        solved: The type parameters of the class whose State stands in the text.
    """

    text: str
    reasons: tuple[str, ...] = ()
    solved: frozenset[str] = frozenset()


def any_type(reason: str) -> Spelled:
    """Return Any with the reason for it."""
    return Spelled("_Any", (reason,))


class Speller:
    """Spells types for the State classes of the models.

    Args:
        state_name: The name of the State class of a model and a part.
        protocols: Whether an object's type leads to its State's type, so that the State of an
            object of a generic class can be asked of the type argument.
        rows: Writes what is one type for each of several items.
    """

    def __init__(
        self,
        classes: Mapping[str, ClassInfo],
        contents: Contents,
        imports: Imports,
        state_name: Callable[[str, Part], str],
        protocols: bool,
        rows: Rows,
    ) -> None:
        self._classes = classes
        self._contents = contents
        self._imports = imports
        self._state_name = state_name
        self.has_protocols = protocols
        self._rows = rows

    # -- types of the source ------------------------------------------------------------------

    def plain(self, found: Type, parameters: tuple[str, ...] = ()) -> str:
        """Return the type itself, with `parameters` as the State class names them."""
        match found:
            case Named():
                info = self._classes.get(found.name)
                if info is None:
                    return "_Any"
                given = [self.plain(each, parameters) for each in found.arguments]
                given += ["_Any"] * (len(info.parameters) - len(given))
                if found.name == "builtins:tuple":  # of any length; others are a `Tuple`
                    given.append("...")
                return applied(self._imports.spell(found.name), given)
            case Parameter():
                return parameter_name(parameters, found.name)
            case Union():
                return _joined(self.plain(each, parameters) for each in found.items)
            case Tuple():
                return applied("_Tuple", [self.plain(each, parameters) for each in found.items])
            case Static():
                return found.text
            case Unknown():
                return "_Any"

    def model(self, info: ClassInfo) -> str:
        """Return the type of an object of the class, its type parameters as they are."""
        itself = Named(info.name, tuple(Parameter(name) for name in info.parameters))
        return self.plain(itself, info.parameters)

    def filter_type(self, variable: str) -> str:
        """Return the type of the filter that is a Variable class."""
        return f"_Type[{self.plain(Named(variable))}]"

    def protocol(self, part: Part, solved: str) -> str:
        """Return the protocol of an object whose State in the part has the type `solved`."""
        if part == EVERYTHING:
            return f"_SupportsState[{solved}]"
        # What several filters leave of a type argument is never asked for (`Contents.state_of`).
        protocol = "_SupportsPart" if part.taken else "_SupportsRest"
        return f"{protocol}[{self.filter_type(part.filters[0])}, {solved}]"

    def state_of(self, model: str, kept: str) -> str:
        """Return the State of a model without fields that are known; flax has no such types."""
        return (
            f"_State[_Any, _Any, {model}, {kept}]" if self.has_protocols else "_State[_Any, _Any]"
        )

    def base(self, model: str, kept: str, leaves: Iterable[Named]) -> str:
        """Return the base of State classes that have no other fields than the known ones."""
        leaf = _joined(sorted(map(self.plain, leaves))) or "_Any"
        return f"_Fields[{model}, {kept}, {leaf}]" if self.has_protocols else "_Fields"

    # -- types in a State ---------------------------------------------------------------------

    def state(self, found: Type, part: Part, parameters: tuple[str, ...]) -> Spelled | None:
        """Return what stands in a State for an attribute of the type, or None for nothing.

        Args:
            found: The type of the attribute.
            part: The part of the State.
            parameters: The type parameters of the class that has the attribute.
        """
        if not self._contents.has(found, part):
            return None
        match found:
            case Named():
                return self._named(found, part, parameters)
            case Parameter():
                return self._parameter(found, parameters)
            case Union():
                return self._union(found.items, part, parameters)
            case Tuple():
                return self._tuple(found.items, part, parameters)
            case Unknown():
                return any_type(found.reason)
            case Static():
                return None

    def fields(self, info: ClassInfo, part: Part) -> dict[str, Spelled]:
        """Return the fields that the State of a model has in a part."""
        # A name with two underscores is no key of a State that could be read by it.
        names = [name for name in info.attributes if not name.startswith("__")]
        found = {name: self.state(info.attributes[name], part, info.parameters) for name in names}
        return {name: each for name, each in found.items() if each is not None}

    def _named(self, found: Named, part: Part, parameters: tuple[str, ...]) -> Spelled:
        info = self._classes.get(found.name)
        match info.kind if info else None:
            case Kind.VARIABLE | Kind.ARRAY:
                return Spelled(self.plain(self._contents.narrowed(found, part), parameters))
            case Kind.LIST:
                return self._container("ListState", found, part, parameters)
            case Kind.DICT:
                return self._container("DictState", found, part, parameters)
            case Kind.PYTREE if info is not None and is_bare(info):
                return Spelled(self.state_of(self.plain(found, parameters), "_Any"))
            case Kind.PYTREE:
                return self._model(found, part, parameters)
            case None:
                return any_type(f"{found.name.replace(':', '.')} is not known")

    def _parameter(self, found: Parameter, parameters: tuple[str, ...]) -> Spelled:
        if found.name not in parameters:
            return any_type(f"the type parameter {found.name} is not known")
        if not self.has_protocols:
            return Spelled(parameter_name(parameters, found.name))
        return Spelled(f"_S{parameters.index(found.name)}", solved=frozenset({found.name}))

    def _union(
        self, items: tuple[Type, ...], part: Part, parameters: tuple[str, ...]
    ) -> Spelled | None:
        present = [item for item in items if self._contents.has(item, part)]
        # A class without a field in the part is there for those below it: others say more.
        present = [item for item in present if self._keys(item, part) != _NO_FIELDS] or present
        spelled = [each for item in present if (each := self.state(item, part, parameters))]
        if len({self._keys(item, part) for item in present} - {None}) > 1:
            # No code can tell the States apart, so one's field is no mistake where another has none.
            models = _joined(self.plain(item, parameters) for item in present)
            return Spelled(self.state_of(models, "_Any"), ("models with other fields",))
        return _together(_joined(each.text for each in spelled), spelled) if spelled else None

    def _keys(self, found: Type, part: Part) -> frozenset[str] | None:
        """Return the fields of the State of a model; None for what is no model."""
        info = self._classes.get(found.name) if isinstance(found, Named) else None
        if info is None or info.kind is not Kind.PYTREE:
            return None
        has = self._contents.has
        fields = {name for name, type_ in info.attributes.items() if has(type_, part)}
        return frozenset(fields | {"*"} if info.is_open else fields)

    def _tuple(self, items: tuple[Type, ...], part: Part, parameters: tuple[str, ...]) -> Spelled:
        # What has no leaf in the part is not there.
        spelled = [self.state(each, part, parameters) or Spelled("NoSuchField") for each in items]
        return _together(self._rows.tuple_state([each.text for each in spelled]), spelled)

    def _container(
        self, name: str, found: Named, part: Part, parameters: tuple[str, ...]
    ) -> Spelled:
        if not found.arguments:
            reason = any_type("the type of the elements is not known")
            return _together(applied(name, ["_Any"]), [reason])
        element = self._union(found.arguments[-1:], part, parameters) or Spelled("_Any")
        return _together(applied(name, [element.text]), [element])

    def _model(self, found: Named, part: Part, parameters: tuple[str, ...]) -> Spelled:
        name = self._state_name(found.name, self._contents.state_of(found.name, part))
        expected = len(self._classes[found.name].parameters)
        given = [self._argument(each, part, parameters) for each in found.arguments[:expected]]
        given += [Spelled("_Any")] * (expected - len(given))
        return _together(applied(name, [each.text for each in given]), given)

    def _argument(self, found: Type, part: Part, parameters: tuple[str, ...]) -> Spelled:
        """Return the argument of a State class for a type argument of its model class."""
        if not self.has_protocols:
            return self.state(found, part, parameters) or Spelled("_Any")
        if isinstance(found, Parameter):
            return Spelled(parameter_name(parameters, found.name))
        info = self._classes.get(found.name) if isinstance(found, Named) else None
        if info is not None and info.kind is Kind.PYTREE:
            return Spelled(self.plain(found, parameters))
        spelled = self.state(found, part, parameters) or Spelled("_Any")
        return _together(f"_Holds[{spelled.text}]", [spelled])


def own_parameters(info: ClassInfo) -> list[str]:
    """Return what the State classes of a model call its type parameters."""
    return [f"_P{index}" for index in range(len(info.parameters))]


def parameter_name(parameters: tuple[str, ...], name: str) -> str:
    """Return what a State class calls a type parameter of its model class."""
    return f"_P{parameters.index(name)}" if name in parameters else "_Any"


def applied(name: str, arguments: list[str]) -> str:
    """Return a class with its type arguments."""
    return f"{name}[{', '.join(arguments)}]" if arguments else name


def _joined(texts: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(texts))


def _together(text: str, parts: list[Spelled]) -> Spelled:
    reasons = tuple(dict.fromkeys(reason for part in parts for reason in part.reasons))
    return Spelled(text, reasons, frozenset().union(*(part.solved for part in parts)))
