"""The shapes that Linen's submodules are called with, by the place of the call in the source.

`python -m typed_nnx_codegen.verify.recording OLD.py EXAMPLES.py` prints them as JSON, for programs
that do not import jax. It imports both files, that is, runs them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import flax.linen as nn
import jax

from typed_nnx_codegen.verify.building import linen_model, mapped
from typed_nnx_codegen.verify.call_sites import Site, site_of_call
from typed_nnx_codegen.verify.calls import bound_arguments, is_method
from typed_nnx_codegen.verify.comparable import is_array
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.example_files import read_examples
from typed_nnx_codegen.verify.examples import Build, Example
from typed_nnx_codegen.verify.field_sizes import field_sizes
from typed_nnx_codegen.verify.inputs import concrete, keys
from typed_nnx_codegen.verify.reasons import reason_of
from typed_nnx_codegen.verify.sides import Side, import_side

VERSION: Final = 1

# The module that makes the classes of `nn.scan(Block)` and the like.
_TRANSFORMS: Final = "flax.linen.transforms"

# What JSON has for a value: {"shape": [2, 3], "dtype": "float32"} for an array, {"list": [...]},
# {"items": {...}} for mappings and dataclasses, {"value": 3} for numbers, text and None, else
# {"type": "Name"}.
Described = dict[str, Any]

# The code asks for the value of an array, which a trace has not.
_NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


@dataclass
class SubmoduleCall:
    """A call of a method of a module while `init` ran.

    Attributes:
        module: The class of the module.
        library: Whether it is a class of flax itself.
        path: The path of the module from the root on.
        method: The method.
        arguments: What each parameter was given, defaults included.
        outputs: What it returned.
        site: Where the call stands in the source; None for the call of the root.
        file: The file that defines the class; empty where there is none.
        sizes: The integers in the fields of the module, by the expressions that read them; none
            for classes of flax.
    """

    module: str
    library: bool
    path: tuple[str, ...]
    method: str
    arguments: dict[str, Described]
    outputs: Described | None = None
    site: Site | None = None
    file: str = ""
    sizes: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclass
class ExampleRecord:
    """What was recorded of one example.

    Attributes:
        name: Its name.
        class_name: The class of the root.
        calls: The calls, in the order in which they began; equal ones once.
        error: Why `init` failed; empty if it did not. The calls up to there are there.
    """

    name: str
    class_name: str
    calls: list[SubmoduleCall] = dataclasses.field(default_factory=list)
    error: str = ""


@dataclass
class Recording:
    """What was recorded of all examples of a file.

    Attributes:
        examples: One record each.
    """

    examples: list[ExampleRecord]

    def as_json(self) -> dict[str, Any]:
        """Return it in objects that JSON knows."""
        return {"version": VERSION, **dataclasses.asdict(self)}


def record(old_module_path: Path, example_file: Path) -> Recording:
    """Run the Linen `init` of every example on shapes alone, and record what it calls.

    Raises:
        BadUse: A file cannot be imported, or has no examples.
    """
    old = import_side(old_module_path)
    examples = read_examples(example_file, old)
    files = [old.path, example_file.absolute(), *(Path(each) for each in old.search)]
    return Recording([_recorded(example, old, files) for example in examples])


def _recorded(example: Example, old: Side, files: Sequence[Path]) -> ExampleRecord:
    made = ExampleRecord(example.name, example.build.class_name)
    try:
        with old.active():
            try:
                _run(example, old, made, jax.eval_shape)
            except _NEEDS_VALUES:
                made.calls.clear()
                _run(example, old, made, _with_values)
    # It is the user's code: anything may go wrong, and the other examples go on.
    except Exception as error:  # noqa: BLE001 - the record has the reason
        made.error = str(error) if isinstance(error, BadUse) else reason_of(error, files)
    made.calls = _once(made.calls)
    return made


def _with_values(function: Callable[..., Any], arrays: Any) -> Any:
    return function(concrete(arrays))


def _run(example: Example, old: Side, made: ExampleRecord, evaluate: Callable[..., Any]) -> None:
    def build(given: Build) -> Any:
        return linen_model(given, old)

    model = build(example.build)
    args, kwargs = mapped((example.args, example.kwargs), build, old.named)
    leaves, structure = jax.tree.flatten((args, kwargs))
    places = [index for index, leaf in enumerate(leaves) if is_array(leaf)]
    streams = {"params": jax.random.key(0), **keys(example.rngs, 1)}

    def init(arrays: list[Any]) -> Any:
        given = list(leaves)
        for index, array in zip(places, arrays, strict=True):
            given[index] = array
        args, kwargs = jax.tree.unflatten(structure, given)
        with nn.intercept_methods(_noting(made)):
            return model.init(streams, *args, method=example.method, **kwargs)

    evaluate(init, [leaves[index] for index in places])


def _noting(made: ExampleRecord) -> Callable[..., Any]:
    def note(
        call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], context: Any
    ) -> Any:
        if not is_method(context.method_name):
            return call(*args, **kwargs)
        module: nn.Module = context.module
        path = tuple(module.path)
        arguments = bound_arguments(context.orig_method, args, kwargs)
        cls = written_class(type(module))
        is_library = cls.__module__.partition(".")[0] == "flax"
        found = SubmoduleCall(
            cls.__name__,
            is_library,
            path,
            context.method_name,
            {name: described(each) for name, each in arguments.items()},
            site=site_of_call() if path else None,
            file=str(getattr(sys.modules.get(cls.__module__), "__file__", None) or ""),
            sizes={} if is_library else field_sizes(module),
        )
        made.calls.append(found)
        outputs = call(*args, **kwargs)
        found.outputs = described(outputs)
        return outputs

    return note


def written_class(cls: type) -> type:
    """Return the class that a person wrote, where `nn.scan` and the like made one of it."""
    while cls.__module__ == _TRANSFORMS and cls.__bases__:
        cls = cls.__bases__[0]
    return cls


def described(value: Any) -> Described:
    """Return what JSON has for a value: shapes and dtypes instead of numbers."""
    if is_array(value):
        return {"shape": list(value.shape), "dtype": str(value.dtype)}
    if isinstance(value, bool | int | str | None) or (isinstance(value, float) and value == value):
        return {"value": value}
    if isinstance(value, Mapping):
        return {"items": {str(key): described(each) for key, each in value.items()}}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields: tuple[str, ...] = getattr(value, "_fields")  # noqa: B009 - no tuple is known to have it
        return {"items": {name: described(getattr(value, name)) for name in fields}}
    if isinstance(value, list | tuple):
        return {"list": [described(each) for each in value]}
    is_module = isinstance(value, nn.Module)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not is_module:
        names = [each.name for each in dataclasses.fields(value) if hasattr(value, each.name)]
        return {"items": {name: described(getattr(value, name)) for name in names}}
    return {"type": type(value).__name__}


def _once(calls: Sequence[SubmoduleCall]) -> list[SubmoduleCall]:
    """Return the calls without repetitions: a transform may trace its body more than once."""
    seen = []
    for each in calls:
        if each not in seen:
            seen.append(each)
    return seen


def main(arguments: Sequence[str]) -> int:
    """Print the recording of a file and an example file as JSON.

    Returns:
        The exit status: 0, or 2 where the files cannot be used.
    """
    if len(arguments) != 2:
        print(
            "usage: python -m typed_nnx_codegen.verify.recording OLD.py EXAMPLES.py",
            file=sys.stderr,
        )
        return 2
    try:
        # What the user's code prints must not get into the JSON.
        with contextlib.redirect_stdout(sys.stderr):
            recording = record(Path(arguments[0]), Path(arguments[1]))
    except BadUse as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(recording.as_json()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
