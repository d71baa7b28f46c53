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
from typing import Final, TypeAlias

from mypy.types import Type

from typed_nnx_mypy.call import AttributeCheck, Call, ClassCheck, StateAccess, StoreCheck

CallCheck: TypeAlias = Callable[[Call], None]
CallInference: TypeAlias = Callable[[Call], Type | None]
AccessInference: TypeAlias = Callable[[StateAccess], Type | None]
AttributeChecker: TypeAlias = Callable[[AttributeCheck], None]
ClassChecker: TypeAlias = Callable[[ClassCheck], None]
StoreChecker: TypeAlias = Callable[[StoreCheck], None]

CALL_CHECKS: Final[defaultdict[str, list[CallCheck]]] = defaultdict(list)
CALL_INFERENCES: Final[defaultdict[str, list[CallInference]]] = defaultdict(list)
ACCESS_INFERENCES: Final[list[AccessInference]] = []
ATTRIBUTE_CHECKS: Final[list[AttributeChecker]] = []
CLASS_CHECKS: Final[list[ClassChecker]] = []
STORE_CHECKS: Final[list[StoreChecker]] = []


def on_call(*names: str) -> Callable[[CallCheck], CallCheck]:
    """Register a check of calls of functions, ``split``, and methods, ``Optimizer.update``."""

    def register(check: CallCheck) -> CallCheck:
        for name in names:
            CALL_CHECKS[name].append(check)
        return check

    return register


def infers(*names: str) -> Callable[[CallInference], CallInference]:
    """Register an inference of the type of a call."""

    def register(inference: CallInference) -> CallInference:
        for name in names:
            CALL_INFERENCES[name].append(inference)
        return inference

    return register


def on_attribute(check: AttributeChecker) -> AttributeChecker:
    """Register a check of each assignment ``self.x = ...`` in a Pytree."""
    ATTRIBUTE_CHECKS.append(check)
    return check


def on_store(check: StoreChecker) -> StoreChecker:
    """Register a check of assignments ``model.x = ...`` to attributes that begin as static."""
    STORE_CHECKS.append(check)
    return check


def on_class(check: ClassChecker) -> ClassChecker:
    """Register a check of each Pytree class whose body has annotated attributes."""
    CLASS_CHECKS.append(check)
    return check


def infers_access(inference: AccessInference) -> AccessInference:
    """Register an inference of the type of ``state.name`` and ``state[key]``."""
    ACCESS_INFERENCES.append(inference)
    return inference


def is_known(name: str) -> bool:
    """Tell whether a check or an inference looks at calls of `name`."""
    return name in CALL_CHECKS or name in CALL_INFERENCES


def methods() -> list[str]:
    """Return the names of the methods that a check or an inference looks at."""
    return [name for name in {*CALL_CHECKS, *CALL_INFERENCES} if "." in name]
