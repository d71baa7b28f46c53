"""The text of one State class."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.models import ClassInfo
from typed_nnx_codegen.model_stubs.names import StateNames
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part
from typed_nnx_codegen.model_stubs.rows import Rows, other_items, overloads
from typed_nnx_codegen.model_stubs.spelling import Spelled, Speller

# At run time these are methods; a field of that name is read as an item.
STATE_METHODS = frozenset(
    {
        "clear",
        "filter",
        "flat_state",
        "from_flat_path",
        "get",
        "items",
        "keys",
        "map",
        "merge",
        "pop",
        "popitem",
        "raw_mapping",
        "replace_by_pure_dict",
        "setdefault",
        "split",
        "to_pure_dict",
        "update",
        "values",
    }
)

_OPEN = (
    "    def __getattr__(self, name: _Any, /) -> _Any: ..."
    "  # Any: attributes by computed names, or of a base class that is not known"
)


@dataclass(frozen=True)
class StateClass:
    """A State class before it is written.

    Attributes:
        name: Its name.
        info: The model.
        part: What it has of the model's State.
        fields: The types of its fields.
    """

    name: str
    info: ClassInfo
    part: Part
    fields: Mapping[str, Spelled]


def state_class(name: str, info: ClassInfo, part: Part, speller: Speller) -> StateClass:
    """Find the fields of the State of a model in a part."""
    spelled: dict[str, Spelled] = {}
    for attribute, type_ in info.attributes.items():
        # A name with two underscores is no key of a State that could be read by it.
        if not attribute.startswith("__"):
            found = speller.state(type_, part, info.parameters)
            if found is not None:
                spelled[attribute] = found
    return StateClass(name, info, part, spelled)


class StateClassWriter:
    """Writes State classes.

    Args:
        hidden: Names that a field cannot have as an attribute: annotations after it use them.
        names: The names of the State classes, where States say what filters leave of them.
        rows: Writes the items of a State.
    """

    def __init__(
        self,
        speller: Speller,
        hidden: frozenset[str],
        contents: Contents,
        names: StateNames | None,
        rows: Rows,
    ) -> None:
        self._speller = speller
        self._hidden = hidden
        self._contents = contents
        self._names = names
        self._rows = rows

    def write(self, found: StateClass) -> str:
        """Return the text of the class."""
        lines = [f"class {found.name}({self._bases(found)}):"]
        lines += [f'    """{self._description(found)}"""']
        for name, spelled in found.fields.items():
            if self._is_attribute(name):
                lines += self._attribute(found, name, spelled)
        if found.info.is_open:
            lines.append(_OPEN)
        lines += self._phantom_methods(found)
        lines += self._items(found)
        return "\n".join(lines) + "\n"

    def _is_attribute(self, name: str) -> bool:
        usable = name.isidentifier() and not keyword.iskeyword(name)
        return usable and name not in STATE_METHODS and name not in self._hidden

    def _bases(self, found: StateClass) -> str:
        parameters = [f"_P{index}" for index in range(len(found.info.parameters))]
        model = self._speller.model(found.info)
        taken = found.part.taken
        kept = self._speller.filter_type(taken) if taken else "_Everything"
        if any(name in self._hidden for name in found.fields):
            state = self._speller.state_of(model, kept)
        else:
            leaves = self._contents.leaves(found.info, found.part)
            state = self._speller.base(model, kept, leaves)
        return f"{state}, _Generic[{', '.join(parameters)}]" if parameters else state

    def _description(self, found: StateClass) -> str:
        model = _qualified(found.info) if found.part.filters else found.info.name.replace(":", ".")
        names = [name.rpartition(":")[2] for name in found.part.filters]
        match names:
            case []:
                return f"The State of `{model}`."
            case [name]:
                return f"What `{name}` {'takes' if found.part.taken else 'leaves'} of `{model}`."
            case _:
                return f"What {' and '.join(f'`{name}`' for name in names)} leave of `{model}`."

    def _self_type(self, found: StateClass, solved: frozenset[str]) -> str:
        arguments = [
            self._speller.protocol(found.part, f"_S{index}") if name in solved else "_Any"
            for index, name in enumerate(found.info.parameters)
        ]
        return f"self: {found.name}[{', '.join(arguments)}]" if solved else "self"

    def _attribute(self, found: StateClass, name: str, spelled: Spelled) -> list[str]:
        if not spelled.solved:
            line = f"    {name}: {spelled.text}{_comment(spelled)}"
            # Without documentation editors show that of `Variable.__call__`.
            return [line, f'    """`{_qualified(found.info)}.{name}`"""']
        return [
            "    @_property",
            f"    def {name}({self._self_type(found, spelled.solved)}, /)"
            f" -> {spelled.text}: ...{_comment(spelled)}",
            f"    @{name}.setter",
            f"    def {name}(self, value: _Any, /) -> None: ...",
        ]

    def _phantom_methods(self, found: StateClass) -> list[str]:
        """Return the methods that exist for type checkers only; flax asks nothing of a State.

        A State of all leaves leads back to its model, so that ``state.split(...)`` knows what
        ``split(model, ...)`` knows. What one filter leaves says what a second one leaves of it.
        """
        if self._names is None:
            return []
        if found.part == EVERYTHING:
            return [f"    def __nnx_fields__(self, /) -> {self._speller.model(found.info)}: ..."]
        return self._rests(found, self._names) if len(found.part.left) == 1 else []

    def _rests(self, found: StateClass, names: StateNames) -> list[str]:
        if found.info.parameters:
            return []
        variables, name = self._contents.variables, found.info.name
        answers = {
            kind: self._contents.left_by(name, {*found.part.left, kind})
            for kind in variables.specific_first(self._contents.kinds(name))
        }
        answers = {kind: part for kind, part in answers.items() if part != found.part}
        if not answers:
            return []
        # A filter that takes nothing of this State must not be answered as one it derives from.
        derived = {each for kind in answers for each in variables.subclasses(kind)}
        nothing = " | ".join(map(self._speller.filter_type, sorted(derived - answers.keys())))
        rows = [
            *([(nothing, found.name)] if nothing else []),
            *(
                (self._speller.filter_type(kind), names[name, part])
                for kind, part in answers.items()
            ),
        ]
        return [f"    __nnx_rest__: {self._rows.leaves(found.name, rows)}"]

    def _items(self, found: StateClass) -> list[str]:
        """Return the overloads that know the keys.

        What a filter leaves has its fields as attributes only: the overloads are half of the file,
        and checkers read all of it.
        """
        if found.part.left:
            return []
        keys: dict[tuple[str, str], list[str]] = {}
        for name, spelled in found.fields.items():
            signature = self._self_type(found, spelled.solved), spelled.text
            keys.setdefault(signature, []).append(_quoted(name))
        rows = {
            (f"_Literal[{', '.join(names)}]", result): receiver
            for (receiver, result), names in keys.items()
        }
        is_open = found.info.is_open
        if not any(spelled.solved for spelled in found.fields.values()):
            return (
                [f"    __getitem__: {self._rows.items([*rows], is_open=is_open)}"] if rows else []
            )
        # Items of a type parameter need the type of `self`.
        definitions = [
            f"    def __getitem__({rows.get((key, result), 'self')}, key: {key}, /) -> {result}: ..."
            for key, result in [*rows, *other_items([key for key, _ in rows], is_open=is_open)]
        ]
        return [overloads(definitions).rstrip()]


def _qualified(info: ClassInfo) -> str:
    return info.name.partition(":")[2]


def _comment(spelled: Spelled) -> str:
    reasons = "; ".join(" ".join(reason.split()) for reason in spelled.reasons)
    return f"  # Any: {reasons}" if reasons else ""


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
