"""The text of `state` and `split` with types, for models of flax.

flax asks nothing of the object, so there is an overload for each model and filter. At run time the
functions are those of flax; the user imports these under ``TYPE_CHECKING``.
"""

from __future__ import annotations

from collections.abc import Iterator

from typed_nnx_codegen.model_stubs.models import ClassInfo, Named
from typed_nnx_codegen.model_stubs.names import StateNames
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part
from typed_nnx_codegen.model_stubs.plan import Plan
from typed_nnx_codegen.model_stubs.rows import overloads
from typed_nnx_codegen.model_stubs.spelling import Speller

_OPTIONS = "*, graph: bool | None = None"

_OTHERS = f"def state(node: object, /, *filters: _Any, {_OPTIONS[3:]}) -> _Any: ..."
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
        return f"{overloads([*states, _OTHERS])}\n{overloads([*splits, _SPLIT_OTHERS])}"

    def _result(self, info: ClassInfo, part: Part) -> str:
        arguments = ", ".join("_Any" for _ in info.parameters)
        return self._names[info.name, part] + (f"[{arguments}]" if arguments else "")

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
