"""The text of the overlay ``typed_nnx_models.pyi``."""

from __future__ import annotations

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.hooks import FlaxFunctionsWriter, HooksWriter
from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.names import Imports, StateNames
from typed_nnx_codegen.model_stubs.plan import Plan
from typed_nnx_codegen.model_stubs.preamble import (
    FLAX,
    FLAX_CLASSES,
    OUR_CLASSES,
    OURS,
    OWN_NAMES,
    head,
)
from typed_nnx_codegen.model_stubs.rows import Rows
from typed_nnx_codegen.model_stubs.spelling import Speller
from typed_nnx_codegen.model_stubs.state_class import StateClassWriter

RUNTIMES = ("typed_nnx", "flax.nnx")

_TREE = '''\
# Written by `{command}`. Do not edit.
# mypy: ignore-errors
# pyright: basic
# pyright: reportAttributeAccessIssue=false
# pyright: reportPrivateImportUsage=false
"""`jax.tree` with a type for `map`: a State or a Pytree of arrays stays what it is."""

from collections.abc import Callable
from typing import Any, Concatenate, TypeVar, overload

from jax import Array
from jax._src import tree_util
from {runtime} import Pytree, State

_T = TypeVar("_T", bound=State{arguments} | Pytree)

@overload
def map(f: Callable[Concatenate[Array, ...], Array], tree: _T, *rest: Any, is_leaf: None = None) -> _T: ...
@overload
def map(
    f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any: ...
def __getattr__(name: str) -> Any: ...

all = tree_util.tree_all
broadcast = tree_util.tree_broadcast
flatten = tree_util.tree_flatten
flatten_with_path = tree_util.tree_flatten_with_path
leaves = tree_util.tree_leaves
leaves_with_path = tree_util.tree_leaves_with_path
map_with_path = tree_util.tree_map_with_path
reduce = tree_util.tree_reduce
structure = tree_util.tree_structure
transpose = tree_util.tree_transpose
unflatten = tree_util.tree_unflatten
'''


def tree_text(runtime: str, command: str) -> str:
    """Return the stub of the module of jax that defines ``jax.tree.map``, for a runtime."""
    arguments = "[Any, Any, Any, Any]" if runtime == RUNTIMES[0] else "[Any, Any]"
    return _TREE.format(command=command, runtime=runtime, arguments=arguments)


def overlay_text(models: Models, *, runtime: str, command: str) -> str:
    """Return the overlay of the models.

    Args:
        models: What the reader found.
        runtime: The package that the models use, one of `RUNTIMES`.
        command: The command line that writes the overlay, for its first line.
    """
    ours = runtime == RUNTIMES[0]
    contents = Contents(models)
    plan = Plan(models, contents, in_a_row=2 if ours else 1)
    names = StateNames(models.classes, plan.parts, OWN_NAMES)
    imports = Imports(models.classes, OWN_NAMES | names.all())
    rows = Rows("_State[int, _Any, _Any, _Any]" if ours else "_State[int, _Any]")
    speller = Speller(
        models.classes,
        contents,
        imports,
        lambda name, part: names[name, part],
        protocols=ours,
        rows=rows,
    )
    hidden = imports.names() | names.all() | OWN_NAMES
    classes = StateClassWriter(speller, hidden, contents, names, rows)
    texts = [classes.write(info, part) for info in plan.models for part in plan.parts[info.name]]
    texts.append(rows.classes())
    if ours:
        texts.append(HooksWriter(plan, contents, names, speller).write())
    else:
        texts.append(FlaxFunctionsWriter(plan, names, speller).write())
    lines = "".join(f"{line}\n" for line in imports.lines())
    generic = [len(info.parameters) for info in (*plan.models, *plan.containers)]
    start = head(command, (OURS if ours else FLAX) + lines, max(generic, default=0))
    return "\n".join([start, OUR_CLASSES if ours else FLAX_CLASSES, *texts])
