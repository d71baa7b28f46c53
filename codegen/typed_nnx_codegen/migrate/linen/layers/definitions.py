"""What the table of layers answers, and the helpers that migrated code needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Value


@dataclass(frozen=True)
class Given:
    """An argument of a constructor or a call, bound to the name of its parameter in Linen.

    Attributes:
        code: A Python expression for it, valid in the new constructor or in the method.
        value: What is known of it.
        keyword: Whether it was written with its name.
    """

    code: str
    value: Value = UNKNOWN
    keyword: bool = False


@dataclass(frozen=True)
class Inputs:
    """The arguments that a layer is called with.

    Attributes:
        arguments: What is known of each, by the name of its parameter in Linen.
    """

    arguments: Mapping[str, Value]


@dataclass(frozen=True)
class Template:
    """Code with sizes in it.

    Attributes:
        parts: Pieces of code and sizes, in order.
    """

    parts: tuple[str | Dim, ...]


@dataclass(frozen=True)
class Argument:
    """An argument of the new constructor or call.

    Attributes:
        keyword: The name of its parameter; empty where it is positional.
        code: The expression, or a size, or code with sizes in it.
    """

    keyword: str
    code: str | Dim | Template

    def spelled(self, size: Callable[[Dim], str] = Dim.code) -> str:
        """Return it as it is written in a call.

        Args:
            size: Gives the expression for a size.
        """
        parts = self.code.parts if isinstance(self.code, Template) else (self.code,)
        text = "".join(part if isinstance(part, str) else size(part) for part in parts)
        return f"{self.keyword}={text}" if self.keyword else text


@dataclass(frozen=True)
class Helper:
    """A function or class of `typed_nnx.migrated` that migrated code needs.

    Code for flax.nnx gets its definition at the top level of the file.

    Attributes:
        name: Its name.
    """

    name: str

    @property
    def code(self) -> str:
        """Its definition."""
        return _definitions()[self.name][0]

    @property
    def imports(self) -> tuple[str, ...]:
        """The modules that the definition needs, as import statements."""
        return _definitions()[self.name][1]

    @property
    def after(self) -> tuple[Helper, ...]:
        """The helpers that it needs itself."""
        return tuple(map(Helper, _definitions()[self.name][2]))


class _Untyped(cst.CSTTransformer):
    """Leaves out types: files do not import what they are written with."""

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        """Return a parameter; plain types and those of NNX stay."""
        annotation = original_node.annotation
        if annotation is None or code_of(annotation.annotation) in _KEPT:
            return updated_node
        tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        equal = tight if updated_node.default is not None else cst.MaybeSentinel.DEFAULT
        return updated_node.with_changes(annotation=None, equal=equal)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Return a function."""
        del original_node
        return updated_node.with_changes(returns=None)

    def leave_AnnAssign(
        self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign
    ) -> cst.BaseSmallStatement:
        """Return an assignment."""
        del original_node
        if updated_node.value is None:
            return updated_node
        return cst.Assign([cst.AssignTarget(updated_node.target)], updated_node.value)


_KEPT: Final = frozenset({"int", "bool", "float", "str", "nnx.Module", "nnx.Rngs"})


@cache
def _definitions() -> dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return the code of each helper, the import statements and the other helpers that it needs."""
    spec = find_spec("typed_nnx")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(spec.submodule_search_locations[0], "migrated")
    found: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}
    for path in sorted(folder.glob("_*.py")):
        body = cst.parse_module(path.read_text(encoding="utf-8")).body
        nodes = [one for one in body if isinstance(one, cst.FunctionDef | cst.ClassDef)]
        imports = [one for one in body if isinstance(one, cst.SimpleStatementLine)]
        for node in nodes:
            bare = node.with_changes(leading_lines=()).visit(_Untyped())
            assert isinstance(bare, cst.CSTNode)
            read = {one.value for one in descendants(bare) if isinstance(one, cst.Name)}
            texts = [code_of(one.with_changes(leading_lines=())).strip() for one in imports]
            needed = [text for text in texts if _binds_one_of(text, read)]
            others = [one.name.value for one in nodes if one.name.value in read]
            name = node.name.value
            after = tuple(one for one in others if one != name)
            found[name] = (code_of(bare), tuple(needed), after)
    return found


def _binds_one_of(statement: str, names: set[str]) -> bool:
    """Whether a statement imports one of some names, other than those of NNX."""
    is_import = statement.startswith(("import ", "from ")) and " as nnx" not in statement
    return is_import and statement.rpartition(" ")[2] in names


@dataclass(frozen=True)
class Built:
    """How a layer is constructed.

    Attributes:
        cls: The public name of its class, ``nnx.Linear``, or the name of a helper.
        arguments: The arguments of the constructor without ``rngs``.
        takes_rngs: Whether ``rngs=rngs`` belongs at the end.
        moved: Arguments of the Linen constructor to give at each call instead, by keyword.
        methods: The methods that have another name now.
        helpers: What the code needs at the top level of the file.
    """

    cls: str
    arguments: tuple[Argument, ...]
    takes_rngs: bool = True
    moved: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    helpers: tuple[Helper, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Why there is no code that does the same; becomes a marker.

    Attributes:
        why: The reason, a sentence.
        fix: What to do, a sentence.
    """

    why: str
    fix: str


@dataclass(frozen=True)
class MissingWidth:
    """A width that the inputs do not tell.

    Attributes:
        parameter: The parameter of the new constructor that it is for.
    """

    parameter: str


@dataclass(frozen=True)
class LayerVariable:
    """Where a variable of the Linen layer is in the new one.

    Attributes:
        linen: Its path, collection first: ``params/kernel``; may be a whole subtree.
        nnx: The path of attributes: ``kernel``, ``query.kernel``.
        transpose: How its axes are permuted; None where they stay.
        reshape: The new shape; None where it stays.
    """

    linen: str
    nnx: str
    transpose: tuple[int, ...] | None = None
    reshape: tuple[int, ...] | None = None


KEEP_DTYPES: Final = Helper("keep_dtypes")
IN_DTYPE_OF_INPUTS: Final = Helper("in_dtype_of_inputs")
WITHOUT_SHARDING: Final = Helper("without_sharding")
ACCEPTED_ARGUMENTS: Final = Helper("with_accepted_arguments")
ATTENTION_IN_ITS_DTYPE: Final = Helper("attention_in_its_dtype")
WEIGHT_NORM: Final = Helper("LinenWeightNorm")
SPECTRAL_NORM: Final = Helper("LinenSpectralNorm")
GRU_CELL: Final = Helper("LinenGRUCell")
MGU_CELL: Final = Helper("LinenMGUCell")
CONV_LSTM_CELL: Final = Helper("LinenConvLSTMCell")
VARIABLES_OF: Final = Helper("variables_of")
BOUND_TO: Final = Helper("bound_to")
APPLY_WITH: Final = Helper("apply_with")
INIT_WITH_OUTPUT: Final = Helper("output_and_variables")
FIELD_OF: Final = Helper("field_of")
WITH_SIZES: Final = Helper("with_sizes")
