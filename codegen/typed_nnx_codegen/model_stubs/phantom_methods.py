"""The methods of State classes that exist for type checkers only: `HasFields`, `HasRest`."""

from __future__ import annotations

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.names import StateNames
from typed_nnx_codegen.model_stubs.parts import EVERYTHING
from typed_nnx_codegen.model_stubs.rows import Rows
from typed_nnx_codegen.model_stubs.spelling import Speller
from typed_nnx_codegen.model_stubs.state_class import StateClass


class PhantomMethods:
    """Writes them.

    A State of all leaves leads back to its model, so that ``state.split(...)`` knows what
    ``split(model, ...)`` knows. What one filter leaves says what a second one leaves of it.

    Args:
        names: The names of the State classes.
        rows: Writes what a State says of filters.
    """

    def __init__(self, contents: Contents, speller: Speller, names: StateNames, rows: Rows) -> None:
        self._contents = contents
        self._speller = speller
        self._names = names
        self._rows = rows

    def of(self, found: StateClass) -> list[str]:
        """Return the lines of the methods of a State class."""
        if found.part == EVERYTHING:
            return [f"    def __nnx_fields__(self, /) -> {self._speller.model(found.info)}: ..."]
        return self._rests(found) if len(found.part.left) == 1 else []

    def _rests(self, found: StateClass) -> list[str]:
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
                (self._speller.filter_type(kind), self._names[name, part])
                for kind, part in answers.items()
            ),
        ]
        return [f"    __nnx_rest__: {self._rows.leaves(found.name, rows)}"]
