"""Stands in for packages that modules of Linen import, and compute nothing with.

Simulators, PyTorch, readers of data: gigabytes, for names that training loops use. Python imports
this file when it starts, if its folder is on ``PYTHONPATH``. What is installed is imported as ever.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

ABSENT = frozenset(
    {
        *("ale_py", "baselines", "cv2", "gym", "gymnasium", "minatar", "mujoco", "pygame"),
        *("stable_baselines3", "tensorflow", "tensorflow_datasets", "tensorflow_text", "torch"),
        *("torchvision", "tokenizers", "clu", "igraph", "sentencepiece"),
        *("emoji", "ftfy", "unidecode", "wandb"),
    }
)


class _AnyName(type):
    """Classes of which every attribute is another such class."""

    def __getattr__(cls, name: str) -> type:
        return _stand_in(name)

    def __getitem__(cls, item: object) -> type:
        return cls

    def __or__(cls, other: object) -> Any:
        return cls

    def __ror__(cls, other: object) -> Any:
        return cls


class _StandIn(metaclass=_AnyName):
    """A base class, a decorator, or an object of which nothing is asked."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return _decorated(args, kwargs) or super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take whatever the real one would."""

    def __getattr__(self, name: str) -> type:
        return _stand_in(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _decorated(args, kwargs) or _StandIn()


def _decorated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a decorator is put on, None where the call is another one."""
    is_one = len(args) == 1 and not kwargs
    return args[0] if is_one and isinstance(args[0], types.FunctionType | type) else None


def _stand_in(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return _AnyName(name, (_StandIn,), {})


class _Module(types.ModuleType):
    """A module that has every name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__version__ = "99.0"
        self.__path__ = []

    def __getattr__(self, name: str) -> type:
        # The same class each time: code compares and registers it.
        found = _stand_in(name)
        setattr(self, name, found)
        return found


def _is_importing(package: str) -> bool:
    """Whether code of a package is being run at this moment."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            return True
        frame = frame.f_back
    return False


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the absent packages, after all other finders have looked."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top = fullname.partition(".")[0]
        if top not in ABSENT:
            return None
        if top == "tensorflow":
            # It does more with TensorFlow than to name it, and does well without it.
            if _is_importing("tensorflow_probability"):
                return None
            with suppress(ImportError):
                importlib.import_module("tensorflow_probability.substrates.jax")
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: there is no code."""


def _older_names() -> None:
    """Give jax the names that it had when some packages were written."""
    jax: Any = importlib.import_module("jax")
    jax.numpy.DeviceArray = jax.Array
    experimental: Any = importlib.import_module("jax.experimental")
    experimental.PartitionSpec = jax.sharding.PartitionSpec
    for name, renamed in _RENAMED.items():
        setattr(jax.numpy, name, _with_older(getattr(jax.numpy, name), renamed))


# Functions of jax.numpy, with the arguments that had another name.
_RENAMED = {"clip": {"a": "arr", "a_min": "min", "a_max": "max"}, "reshape": {"newshape": "shape"}}


def _with_older(function: Any, renamed: dict[str, str]) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{renamed.get(name, name): each for name, each in kwargs.items()})

    return call


sys.meta_path.append(_Finder())
_older_names()
