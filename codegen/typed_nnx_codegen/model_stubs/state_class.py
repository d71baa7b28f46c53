"""The text of one State class."""

from __future__ import annotations

import keyword
from collections.abc import Mapping

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.models import ClassInfo
from typed_nnx_codegen.model_stubs.names import StateNames
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part
from typed_nnx_codegen.model_stubs.rows import Rows, other_items, overloads
from typed_nnx_codegen.model_stubs.spelling import Spelled, Speller, applied, own_parameters

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


Fields = Mapping[str, Spelled]


class StateClassWriter:
    """Writes State classes.

    Args:
        hidden: Names that a field cannot have as an attribute: annotations after it use them.
    """

    def __init__(
        self,
        speller: Speller,
        hidden: frozenset[str],
        contents: Contents,
        names: StateNames,
        rows: Rows,
    ) -> None:
        self._speller = speller
        self._hidden = hidden
        self._contents = contents
        self._names = names
        self._rows = rows

    def write(self, info: ClassInfo, part: Part) -> str:
        """Return the text of the class for a part of the State of a model."""
        fields = self._speller.fields(info, part)
        lines = [f"class {self._names[info.name, part]}({self._bases(info, part, fields)}):"]
        lines += [f'    """{_description(info, part)}"""']
        for name, spelled in fields.items():
            if self._is_attribute(name):
                lines += self._attribute(info, part, name, spelled)
        if info.is_open:
            lines.append(_OPEN)
        lines += self._phantom_methods(info, part)
        # What a filter leaves has its fields as attributes only: the overloads are half of the
        # file, and checkers read all of it.
        if fields and not part.left:
            lines += self._items(info, part, fields)
        return "\n".join(lines) + "\n"

    def _is_attribute(self, name: str) -> bool:
        usable = name.isidentifier() and not keyword.iskeyword(name)
        return usable and name not in STATE_METHODS and name not in self._hidden

    def _bases(self, info: ClassInfo, part: Part, fields: Fields) -> str:
        parameters = own_parameters(info)
        model = self._speller.model(info)
        kept = self._speller.filter_type(part.taken) if part.taken else "_Everything"
        if any(name in self._hidden for name in fields):
            state = self._speller.state_of(model, kept)
        else:
            leaves = self._contents.leaves(info, part)
            state = self._speller.base(model, kept, leaves)
        return f"{state}, _Generic[{', '.join(parameters)}]" if parameters else state

    def _self_type(self, info: ClassInfo, part: Part, solved: frozenset[str]) -> str:
        arguments = [
            self._speller.protocol(part, f"_S{index}") if name in solved else "_Any"
            for index, name in enumerate(info.parameters)
        ]
        return f"self: {applied(self._names[info.name, part], arguments)}" if solved else "self"

    def _attribute(self, info: ClassInfo, part: Part, name: str, spelled: Spelled) -> list[str]:
        if not spelled.solved:
            line = f"    {name}: {spelled.text}{_comment(spelled)}"
            # Without documentation editors show that of `Variable.__call__`.
            return [line, f'    """`{_qualified(info)}.{name}`"""']
        return [
            "    @_property",
            f"    def {name}({self._self_type(info, part, spelled.solved)}, /)"
            f" -> {spelled.text}: ...{_comment(spelled)}",
            f"    @{name}.setter",
            f"    def {name}(self, value: _Any, /) -> None: ...",
        ]

    def _phantom_methods(self, info: ClassInfo, part: Part) -> list[str]:
        """Return the methods that exist for type checkers only; flax asks nothing of a State.

        A State of all leaves leads back to its model, so that ``state.split(...)`` knows what
        ``split(model, ...)`` knows. What one filter leaves says what a second one leaves of it.
        """
        if not self._speller.has_protocols:
            return []
        if part == EVERYTHING:
            return [f"    def __nnx_fields__(self, /) -> {self._speller.model(info)}: ..."]
        return self._rests(info, part) if len(part.left) == 1 and not info.parameters else []

    def _rests(self, info: ClassInfo, part: Part) -> list[str]:
        variables, own = self._contents.variables, self._names[info.name, part]
        answers = {
            kind: self._contents.left_by(info.name, {*part.left, kind})
            for kind in variables.specific_first(self._contents.kinds(info.name))
        }
        answers = {kind: left for kind, left in answers.items() if left != part}
        if not answers:
            return []
        # A filter that takes nothing of this State must not be answered as one it derives from.
        derived = {each for kind in answers for each in variables.subclasses(kind)}
        nothing = " | ".join(map(self._speller.filter_type, sorted(derived - answers.keys())))
        rows = [(nothing, own)] if nothing else []
        for kind, left in answers.items():
            rows.append((self._speller.filter_type(kind), self._names[info.name, left]))
        return [f"    __nnx_rest__: {self._rows.leaves(own, rows)}"]

    def _items(self, info: ClassInfo, part: Part, fields: Fields) -> list[str]:
        """Return the overloads that know the keys."""
        keys: dict[tuple[str, str], list[str]] = {}
        for name, spelled in fields.items():
            signature = self._self_type(info, part, spelled.solved), spelled.text
            keys.setdefault(signature, []).append(_quoted(name))
        rows = {
            (f"_Literal[{', '.join(names)}]", result): receiver
            for (receiver, result), names in keys.items()
        }
        if not any(spelled.solved for spelled in fields.values()):
            return [f"    __getitem__: {self._rows.items([*rows], is_open=info.is_open)}"]
        # Items of a type parameter need the type of `self`.
        others = other_items([key for key, _ in rows], is_open=info.is_open)
        definitions = [
            f"    def __getitem__({rows.get((key, result), 'self')}, key: {key}, /) -> {result}: ..."
            for key, result in [*rows, *others]
        ]
        return [overloads(definitions).rstrip()]


def _description(info: ClassInfo, part: Part) -> str:
    model = _qualified(info) if part.filters else info.name.replace(":", ".")
    names = [name.rpartition(":")[2] for name in part.filters]
    match names:
        case []:
            return f"The State of `{model}`."
        case [name]:
            return f"What `{name}` {'takes' if part.taken else 'leaves'} of `{model}`."
        case _:
            return f"What {' and '.join(f'`{name}`' for name in names)} leave of `{model}`."


def _qualified(info: ClassInfo) -> str:
    return info.name.partition(":")[2]


def _comment(spelled: Spelled) -> str:
    reasons = "; ".join(" ".join(reason.split()) for reason in spelled.reasons)
    return f"  # Any: {reasons}" if reasons else ""


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
