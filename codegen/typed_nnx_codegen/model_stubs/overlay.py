"""The text of the overlay ``typed_nnx_models.pyi``."""

from __future__ import annotations

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.flax_functions import FlaxFunctionsWriter
from typed_nnx_codegen.model_stubs.hooks import HooksWriter
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
from typed_nnx_codegen.model_stubs.state_class import StateClassWriter, state_class

RUNTIMES = ("typed_nnx", "flax.nnx")


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
    rows = Rows("_State[{key}, _Any, _Any, _Any]" if ours else "_State[{key}, _Any]")
    speller = Speller(
        models.classes,
        contents,
        imports,
        lambda name, part: names[name, part],
        protocols=ours,
        rows=rows,
    )
    hidden = imports.names() | names.all() | OWN_NAMES
    classes = StateClassWriter(speller, hidden, contents, names if ours else None, rows)
    texts = [
        classes.write(state_class(names[info.name, part], info, part, speller))
        for info in plan.models
        for part in plan.parts[info.name]
    ]
    texts.append(rows.classes())
    if ours:
        texts.append(HooksWriter(plan, contents, names, speller).write())
    else:
        texts.append(FlaxFunctionsWriter(plan, names, speller).write())
    lines = "".join(f"{line}\n" for line in imports.lines())
    generic = (*plan.models, *plan.containers)
    parameters = max((len(info.parameters) for info in generic), default=0)
    start = head(command, (OURS if ours else FLAX) + lines, parameters)
    return "\n".join([start, OUR_CLASSES if ours else FLAX_CLASSES, *texts])
