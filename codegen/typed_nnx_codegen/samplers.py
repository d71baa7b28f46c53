"""Write ``typed_nnx/_core/samplers.py``: every sampler of jax as a typed method without a key.

Run ``python -m typed_nnx_codegen.samplers --write`` after an update of jax and ``--check`` to learn
whether the file is current. Signatures come from `inspect`, so an annotation that this file does
not know stops the generation instead of becoming a wrong type.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from typed_nnx_codegen.generated_file import write_or_check

COMMAND = "python -m typed_nnx_codegen.samplers --write"
TARGET = Path(__file__).parents[2] / "src" / "typed_nnx" / "_core" / "samplers.py"

# They take a key and give keys back: streams have their own `fork` and `split`.
_KEY_FUNCTIONS = frozenset({"clone", "fold_in", "split"})

# It draws nothing, so there is no key to leave out.
_DRAWS_NOTHING = frozenset({"constant"})

_LINE_LENGTH = 100
_LONGEST_BEFORE_CALL = "samples: jax.Array = "

# The private aliases in jax's annotations, in terms of names that jax makes public.
_PUBLIC_TYPES = {
    "Array": "jax.Array",
    "ArrayLike": "ArrayLike",
    "DTypeLikeFloat": "DTypeLike",
    "DTypeLikeInexact": "DTypeLike",
    "DTypeLikeInt": "DTypeLike",
    "DTypeLikeUInt": "DTypeLike",
    "IntegerArray": "ArrayLike",
    "NamedSharding": "NamedSharding",
    "None": "None",
    "P": "PartitionSpec",
    "RealArray": "ArrayLike",
    "RealNumeric": "ArrayLike",
    "Sequence[int]": "Sequence[int]",
    "Shape": "Sequence[int]",
    "bool": "bool",
    "float": "float",
    "int": "int",
    "str": "str",
}

_HEADER = '''\
"""Every sampler of jax as a typed method that needs no key.

Written by ``{command}`` from jax {version}. Do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from jax.typing import ArrayLike, DTypeLike

from typed_nnx._core.key_source import KeylessInitializer, KeySource, keyless, layout

{constants}

class Samplers(KeySource):
    """The functions of `jax.random` and `jax.nn.initializers`; each draw takes the next key.

    The methods have the parameters of the jax function of the same name without its key. A method
    named after an initializer returns an initializer that takes its key when it is called.
    """

    __slots__ = ()
'''


def samplers() -> dict[str, inspect.Signature]:
    """Return the public functions of `jax.random` that draw samples, without their key."""
    found = {}
    for name, function in _public_functions(jax.random):
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())
        if parameters and parameters[0].name == "key" and name not in _KEY_FUNCTIONS:
            found[name] = signature.replace(parameters=parameters[1:])
    return found


def initializers() -> dict[str, inspect.Signature]:
    """Return the makers of initializers of jax whose name no sampler has taken."""
    return {
        name: signature
        for name, function in _public_functions(jax.nn.initializers)
        if name not in _DRAWS_NOTHING and name not in samplers()
        for signature in [inspect.signature(function)]
        if signature.return_annotation == "Initializer"
    }


def render() -> str:
    """Return the text of the generated module, formatted as ruff formats it."""
    methods = [
        *(_sampler(name, signature) for name, signature in sorted(samplers().items())),
        *(_initializer(name, signature) for name, signature in sorted(initializers().items())),
    ]
    constants = "".join(f"{name} = {value}\n" for name, value in sorted(_constants().items()))
    header = _HEADER.format(command=COMMAND, version=jax.__version__, constants=constants)
    return "\n".join([header, *methods])


def _public_functions(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    # `Any`: a module as a namespace of functions; their signatures are read, nothing is called.
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not inspect.isclass(value):
            yield name, value


def _sampler(name: str, signature: inspect.Signature) -> str:
    call = _call(f"jax.random.{name}", ["self()", *_arguments(signature)], indent=8)
    if signature.return_annotation is signature.empty:
        # jax does not say what it returns: the annotated name keeps `Any` from getting out.
        body = f"        samples: jax.Array = {call}\n        return samples\n"
    else:
        body = f"        return {call}\n"
    return (
        _method_head(name, signature, "jax.Array")
        + f'        """Draw with `jax.random.{name}` and the next key."""\n'
        + body
    )


def _initializer(name: str, signature: inspect.Signature) -> str:
    call = _call(f"jax.nn.initializers.{name}", _arguments(signature), indent=8)
    return (
        _method_head(name, signature, "KeylessInitializer")
        + f'        """Return `jax.nn.initializers.{name}`, taking the next key at each call."""\n'
        + f"        initializer = {call}\n"
        + "        return keyless(self, initializer)\n"
    )


def _method_head(name: str, signature: inspect.Signature, returns: str) -> str:
    parameters = ["self"]
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        parameters.append(_parameter(parameter))
    line = f"    def {name}({', '.join(parameters)}) -> {returns}:\n"
    if len(line) <= _LINE_LENGTH + 1:
        return line
    return f"    def {name}(\n" + _one_per_line(parameters, 8) + f"    ) -> {returns}:\n"


def _parameter(parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {_public_type(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return text
    return f"{text} = {_default(parameter.default)}"


def _default(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return _constant_name(value) if isinstance(value, np.generic) else repr(value)


def _constants() -> dict[str, str]:
    """Return the numpy scalars among the defaults: name -> expression."""
    defaults = [
        parameter.default
        for signature in (*samplers().values(), *initializers().values())
        for parameter in signature.parameters.values()
    ]
    # Not their repr, which depends on the version of numpy.
    return {
        _constant_name(value): f"np.{value.dtype.name}({value.item()!r})"
        for value in defaults
        if isinstance(value, np.generic)
    }


def _constant_name(value: np.generic) -> str:
    return re.sub(r"\W", "_", f"_{value.dtype.name}_{value.item()!r}").upper()


def _public_type(annotation: object) -> str:
    """Write an annotation of jax in terms of public names; literals of a union become one."""
    # jax postpones its annotations: they are strings. Anything else is refused below.
    text = str(annotation)
    literals = re.findall(r"Literal\['(\w+)'\]", text)
    if literals:
        values = ", ".join(f'"{value}"' for value in literals)
        return f"Literal[{values}]"
    public = []
    for part in text.split(" | "):
        if part not in _PUBLIC_TYPES:
            sys.exit(
                f"typed_nnx_codegen.samplers: jax {jax.__version__} uses the type {part!r}, which "
                f"has no public name here.\n  Fix: add it to _PUBLIC_TYPES in {__file__}"
            )
        public.append(_PUBLIC_TYPES[part])
    return " | ".join(dict.fromkeys(public))


def _arguments(signature: inspect.Signature) -> list[str]:
    return [_argument(parameter) for parameter in signature.parameters.values()]


def _argument(parameter: inspect.Parameter) -> str:
    name = parameter.name
    if parameter.kind is not parameter.KEYWORD_ONLY:
        return name
    # Releases of jax before this one do not take it in every sampler.
    return f"**layout({name})" if name == "out_sharding" else f"{name}={name}"


def _call(function: str, arguments: list[str], *, indent: int) -> str:
    line = f"{function}({', '.join(arguments)})"
    if indent + len(_LONGEST_BEFORE_CALL) + len(line) <= _LINE_LENGTH:
        return line
    return f"{function}(\n{_one_per_line(arguments, indent + 4)}{' ' * indent})"


def _one_per_line(items: list[str], indent: int) -> str:
    # A comma after the last item keeps ruff from joining the lines.
    return "".join(f"{' ' * indent}{item},\n" for item in items)


def main(arguments: list[str] | None = None) -> int:
    """Write the file or say whether it is current; return the exit status."""
    return write_or_check(TARGET, render(), f"jax {jax.__version__}", COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
