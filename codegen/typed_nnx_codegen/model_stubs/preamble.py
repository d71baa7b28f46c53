"""What every overlay begins with: comments for checkers, imports, the State of lists and dicts."""

from __future__ import annotations

import re

_HEAD = '''\
# Written by `{command}`. Do not edit: run it again after a change of the models.
# mypy: ignore-errors
# pyright: basic
{rules}
"""The State classes of the models of this project, for type checkers and editors."""
'''

# What `basic` has of rules against whose letter overloads with the type of self and the like are.
_RULES = (
    "reportGeneralTypeIssues",
    "reportInconsistentOverload",
    "reportInvalidTypeArguments",
    "reportInvalidTypeForm",
    "reportInvalidTypeVarUse",
    "reportMissingModuleSource",
    "reportPrivateImportUsage",
    "reportRedeclaration",
)

_TYPING = """\
from collections.abc import Iterator as _Iterator
from types import EllipsisType as _Everything
from typing import Any as _Any, Generic as _Generic, Literal as _Literal
from typing import Protocol as _Protocol, Tuple as _Tuple, Type as _Type, overload as _overload

from jax import Array as _JaxArray
from typing_extensions import TypeVar as _TypeVar
"""

# `property` by another name: a model may have an attribute that is called so.
_VARIABLES = """\
_property = property
_A = _TypeVar("_A")
_C = _TypeVar("_C", covariant=True)
_D = _TypeVar("_D", covariant=True)
_E = _TypeVar("_E", covariant=True)
_S = _TypeVar("_S")
_Key = _TypeVar("_Key", bound=str)
_V = _TypeVar("_V", bound=_Variable[_Any] | _JaxArray)

# mypy takes it for true. It has no type for texts that stand in the source.
MYPY = False
if MYPY:
    from typing import Never as _OtherText
else:
    from typing import LiteralString as _OtherText
"""

OURS = """\
from typed_nnx import State as _State
from typed_nnx import Variable as _Variable
from typed_nnx._core.filters import SupportsPart as _SupportsPart
from typed_nnx._core.filters import SupportsRest as _SupportsRest
from typed_nnx._core.filters import SupportsState as _SupportsState
from typed_nnx._core.pytree import StateHooks as _StateHooks
"""

FLAX = """\
from flax.nnx import GraphDef as _GraphDef
from flax.nnx import State as _State
from flax.nnx import Variable as _Variable
"""

_LISTS = '''\
class ListState({state_of_list}, _Generic[_S]):
    """The State of a list: elements by their index."""
    def __getitem__(self, key: int, /) -> _S: ...
    def __iter__(self, /) -> _Iterator[int]: ...
    def __nnx_leaves__(self, /) -> _Any: ...
    __getattr__: NoSuchField

class DictState({state_of_dict}, _Generic[_S]):
    """The State of a dict: elements by their key, as items and as attributes."""
    def __getitem__(self, key: str, /) -> _S: ...
    def __iter__(self, /) -> _Iterator[str]: ...
    def __nnx_leaves__(self, /) -> _Any: ...
    def __getattr__(self, name: str, /) -> _S: ...
'''

_NO_FIELD = '''
class NoSuchField:
    """What an item has whose key is no field of the State: nothing can be done with it."""
'''

# State itself has `__getattr__`; without one an unknown field is an error.
_FIELDS = '''
class _Fields({bases}):
    """The base of States of which all fields are known."""
    __getattr__: NoSuchField
'''

_LEAVES = """\
    def __nnx_leaves__(self, /) -> _E: ...
"""

_HOLDER = '''
class _Holds(_Generic[_S]):
    """Stands for an object of which every filter takes and leaves the same."""
    def __nnx_state__(self, /) -> _S: ...
    def __nnx_part__(self, taken: object, /) -> _S: ...
    def __nnx_rest__(self, taken: object, /) -> _S: ...
'''

OUR_CLASSES = (
    _LISTS.format(
        state_of_list="_State[int, _S, _Any, _Any]", state_of_dict="_State[str, _S, _Any, _Any]"
    )
    + _NO_FIELD
    + _FIELDS.format(bases="_State[_Any, _Any, _C, _D], _Generic[_C, _D, _E]")
    + _LEAVES
    + _HOLDER
)

FLAX_CLASSES = (
    _LISTS.format(state_of_list="_State[int, _S]", state_of_dict="_State[str, _S]")
    + _NO_FIELD
    + _FIELDS.format(bases="_State[_Any, _Any]")
)

# The names that the texts above bind, and those that `Hooks` comes with.
OWN_NAMES = frozenset(
    re.findall(
        r"(?<= as )_\w+|^_\w+(?= =)|(?<=^class )\w+",
        _TYPING + _VARIABLES + OURS + FLAX + OUR_CLASSES,
        re.MULTILINE,
    )
) | {
    "Hooks",
    "_DESCRIBED",
    "_HasEverything",
    "_HasList",
    "_HasStates",
    "_DictStates",
    "_ListStates",
    "_Lists",
    "_Others",
}

# And those with a number.
OWN_NUMBERED = re.compile(r"_[LMPS]\d+|_(Leaves|(Open)?Items)\d+")


def head(command: str, imports: str, parameters: int) -> str:
    """Return the beginning of the overlay.

    Args:
        command: The command line that writes it.
        imports: The import lines.
        parameters: The greatest number of type parameters of a model.
    """
    rules = "\n".join(f"# pyright: {rule}=false" for rule in _RULES)
    solved = "".join(
        f'_P{index} = _TypeVar("_P{index}", covariant=True)\n_S{index} = _TypeVar("_S{index}")\n'
        for index in range(parameters)
    )
    comments = _HEAD.format(command=command, rules=rules)
    return f"{comments}\n{_TYPING}{imports}\n{_VARIABLES}{solved}"
