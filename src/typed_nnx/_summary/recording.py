"""A dry run of a model that notes each call of a method of an object in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from typed_nnx._core.dict_module import Dict
from typed_nnx._core.list_module import List
from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.paths import Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.walk import walk_objects
from typed_nnx._summary.abstract_calls import AbstractCall
from typed_nnx._summary.call_info import CallInfo
from typed_nnx._summary.descriptions import Description, describe_input, describe_output, text_of
from typed_nnx._summary.instrumented import instrumented

_TAG = "_nnx_summary_tag"


class Tag:
    """A static attribute that tells which object of the model a copy in a transform stands for.

    It is equal to itself alone, so that no jitted method takes a trace from before.
    """

    __slots__ = ("object_id", "path", "recording")

    def __init__(self, recording: Recording, path: Path, object_id: int) -> None:
        self.recording = recording
        self.path = path
        self.object_id = object_id

    def __repr__(self) -> str:
        return f"Tag{self.path}"


@dataclasses.dataclass
class Recorded:
    """A call that was noted.

    Attributes:
        info: What is known about it.
        module_path: The path of the object.
        call: The call itself, to be compiled later.
    """

    info: CallInfo
    module_path: Path
    call: AbstractCall


class Recording:
    """The calls of one dry run.

    A method is noted once for each kind of inputs.

    Args:
        depth: The length of the longest path that is noted; None for all.
    """

    def __init__(self, depth: int | None) -> None:
        self.rows: list[Recorded] = []
        self._depth = depth
        self._seen: set[tuple[Path, str, str]] = set()
        self._ids: dict[Path, int] = {}

    def run(self, node: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Call a method of an object with shapes alone; the object stays as it is."""
        self._ids = {path: id(found) for path, found in walk_objects(node, (), set())}
        call = AbstractCall.of(node, method, args, kwargs)

        def dry(leaves: list[Any]) -> None:
            copy, args, kwargs = call.rebuilt(leaves)
            tagged = self._tag(copy)
            with instrumented(map(type, tagged), self):
                getattr(copy, method)(*args, **kwargs)

        jax.eval_shape(dry, call.leaves)

    def _tag(self, root: Any) -> list[GraphNode]:
        tagged: list[GraphNode] = []
        for path, node in list(walk_objects(root, (), set())):
            # To a List and a Dict an attribute is an element.
            if isinstance(node, Pytree) and not isinstance(node, List | Dict):
                node._assign(_TAG, Tag(self, path, self._ids[path]))
                tagged.append(node)
        return tagged

    def call(self, name: str, node: Any, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a method and note it."""
        tag = vars(node).get(_TAG)
        if tag is None or tag.recording is not self:
            return method(*args, **kwargs)
        path = tag.path if name == "__call__" else (*tag.path, name)
        inputs = text_of(_inputs(args, kwargs))
        key = (tag.path, name, inputs)
        if key in self._seen or not self._is_shown(path):
            return method(*args, **kwargs)
        self._seen.add(key)
        info = CallInfo(len(self.rows), tag.object_id, type(node), path, inputs, None, None, None)
        row = Recorded(info, tag.path, AbstractCall.of(node, name, args, kwargs))
        self.rows.append(row)
        result = method(*args, **kwargs)
        info.outputs = describe_output(result)
        return result

    def _is_shown(self, path: Path) -> bool:
        # The call that was asked for is shown in any case.
        return self._depth is None or not self.rows or len(path) <= self._depth


def _inputs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Description:
    positional = [describe_input(arg) for arg in args]
    named = {name: describe_input(kwargs[name]) for name in sorted(kwargs)}
    if not named:
        return positional[0] if len(positional) == 1 else positional or ""
    if not positional:
        return named
    return f"{text_of(positional)}\n{text_of(named)}"
