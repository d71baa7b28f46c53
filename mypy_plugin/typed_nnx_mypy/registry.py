"""The checks and inferences, by the name of what they look at.

A check is a function that reports; an inference returns a type, or None where it knows nothing
better. Each file registers its own with the decorators of this module:

```python
@on_call("split", "state", "pop")
def filters_are_in_order(call: Call) -> None: ...
```
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from mypy.errorcodes import ErrorCode
from mypy.types import Type

from typed_nnx_mypy.call import AttributeCheck, Call, ClassCheck, MypyError, StateAccess, StoreCheck

CallCheck: TypeAlias = Callable[[Call], None]
CallInference: TypeAlias = Callable[[Call], Type | None]
ErrorCheck: TypeAlias = Callable[[MypyError], bool]
AccessInference: TypeAlias = Callable[[StateAccess], Type | None]

CALL_CHECKS: Final[defaultdict[str, list[CallCheck]]] = defaultdict(list)
CALL_INFERENCES: Final[defaultdict[str, list[CallInference]]] = defaultdict(list)
ACCESS_INFERENCES: Final[list[AccessInference]] = []
ATTRIBUTE_CHECKS: Final[list[Callable[[AttributeCheck], None]]] = []
END_CHECKS: Final[list[Callable[[AttributeCheck], None]]] = []
CLASS_CHECKS: Final[list[Callable[[ClassCheck], None]]] = []
STORE_CHECKS: Final[list[Callable[[StoreCheck], None]]] = []
ERROR_CHECKS: Final[defaultdict[ErrorCode | None, list[ErrorCheck]]] = defaultdict(list)


Entry = TypeVar("Entry")


def on_call(*names: str) -> Callable[[CallCheck], CallCheck]:
    """Register a check of calls of functions, ``split``, and methods, ``Optimizer.update``."""
    return _into(*(CALL_CHECKS[name] for name in names))


def infers(*names: str) -> Callable[[CallInference], CallInference]:
    """Register an inference of the type of a call."""
    return _into(*(CALL_INFERENCES[name] for name in names))


def on_error(*codes: ErrorCode) -> Callable[[ErrorCheck], ErrorCheck]:
    """Register what looks at errors of mypy before they are shown; True leaves one out."""
    return _into(*(ERROR_CHECKS[code] for code in codes))


def _into(*kept: list[Entry]) -> Callable[[Entry], Entry]:
    """Return a decorator that puts what it decorates into lists."""

    def register(each: Entry) -> Entry:
        for row in kept:
            row.append(each)
        return each

    return register


on_attribute: Final = _into(ATTRIBUTE_CHECKS)
"""Registers a check of each assignment ``self.x = ...`` in a Pytree."""
at_end: Final = _into(END_CHECKS)
"""Registers a check of attributes that began empty, at the end of the method."""
on_store: Final = _into(STORE_CHECKS)
"""Registers a check of assignments ``model.x = ...`` to attributes that begin as static."""
on_class: Final = _into(CLASS_CHECKS)
"""Registers a check of each Pytree class whose body has annotated attributes."""
infers_access: Final = _into(ACCESS_INFERENCES)
"""Registers an inference of the type of ``state.name`` and ``state[key]``."""


def is_known(name: str) -> bool:
    """Tell whether a check or an inference looks at calls of `name`."""
    return name in CALL_CHECKS or name in CALL_INFERENCES


def methods() -> list[str]:
    """Return the names of the methods that a check or an inference looks at."""
    return [name for name in {*CALL_CHECKS, *CALL_INFERENCES} if "." in name]
