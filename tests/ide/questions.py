"""The questions that the tests ask a language server about the project, all in one run of it.

A run costs seconds: the first test that needs an answer has all of them asked (`tests.support.once`),
so that a question has to stand in a table here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol.types import Position

from tests.ide.language_server import language_server
from tests.ide.model_project import Project
from tests.support.editor import Editor

Labels = frozenset[str]


@dataclass(frozen=True)
class Completion:
    """What completion has to offer after some code.

    Attributes:
        code: A line at the end of the script, with ``$0`` where the cursor is.
        fields: What comes first, in this set and no more.
        absent: What may not be offered at all.
        others: Whether anything may come after the fields.
    """

    code: str
    fields: Labels
    absent: Labels = frozenset()
    others: bool = True

    def __str__(self) -> str:
        return self.code.removesuffix("$0")


def offers(code: str, fields: str, absent: str = "", *, others: bool = True) -> Completion:
    """Make a row of names that are separated by spaces."""
    return Completion(code, frozenset(fields.split()), frozenset(absent.split()), others)


COMPLETIONS = (
    # All leaves.
    offers("state.$0", "layers head calls", "width kernel"),
    offers("state.layers[0].$0", "linear norm dropout", "head"),
    offers("state.layers[0].norm.$0", "scale bias mean var", "momentum"),
    offers("state.head.$0", "kernel bias", "in_features"),
    offers('state["$0', '"layers" "head" "calls"', others=False),
    offers("state['$0']", "'layers' 'head' 'calls'", others=False),
    offers('state["layers"][0].$0', "linear norm dropout", "head"),
    offers('state["head"]["$0"]', '"kernel" "bias"', others=False),
    # What a filter takes, and what it leaves.
    offers("params.$0", "layers head", "calls"),
    offers("params.layers[0].$0", "linear norm", "dropout"),
    offers("params.layers[0].norm.$0", "scale bias", "mean var"),
    offers('params["$0"]', '"layers" "head"', others=False),
    offers("stats.$0", "layers calls", "head"),
    offers("stats.layers[0].norm.$0", "mean var", "scale bias"),
    offers("rest.$0", "layers calls", "head"),
    offers("rest.layers[0].norm.$0", "mean var", "scale bias"),
    offers("nnx.split(model, nnx.BatchStat, ...)[2].$0", "layers head", "calls"),
    offers("nnx.split(model, nnx.Param, nnx.BatchStat, ...)[3].$0", "layers", "head calls"),
    offers("state.split(nnx.Param, ...)[1].$0", "layers calls", "head"),
    offers("state.filter(nnx.Param).$0", "layers head", "calls"),
    # Gradients.
    offers("grads.$0", "layers head", "calls"),
    offers("grads.head.$0", "kernel bias"),
    offers("grads_too.layers[0].norm.$0", "scale bias", "mean var"),
    offers("jitted_grads.head.$0", "kernel bias"),
    # Objects.
    offers("model.$0", "layers head calls width", "kernel"),
    offers("model.layers[0].$0", "linear norm dropout", "head"),
    offers("merged.$0", "layers head calls width", "kernel"),
    offers("optimizer.$0", "step opt_state tx wrt update graph", "kernel"),
)

# What the hover shows, in part; each text has to be there.
HOVERS: dict[str, tuple[str, ...]] = {
    "sta$0te": ("state: ", "MLP"),
    "state.he$0ad": ("head: ", "Linear", "MLP.head"),
    "state.head.ker$0nel": ("kernel: Param[Array]",),
    "state.layers[0].norm.me$0an": ("mean: BatchStat[Array]",),
    "params.layers[0].norm.sc$0ale": ("scale: Param[Array]", "BatchNorm.scale"),
    "grads.head.ker$0nel": ("kernel: Param[Array]",),
    "graphd$0ef": ("graphdef: GraphDef[MLP]",),
    "mer$0ged": ("merged: MLP",),
    "optimi$0zer": ("optimizer: Optimizer[MLP]",),
    "train_st$0ep": (
        "model: MLP, x: Array, *, scale: float",
        "Array",
        "The loss of the model, scaled.",
    ),
    "nnx.j$0it": ("static_argnames", "Compile a function of Modules"),
    "nnx.spl$0it(model, nnx.Param)": ("into its structure and one State per filter",),
    "nnx.value_and_gr$0ad": ("has_aux", "computes `f` and its gradient"),
}

# Signature help: each text has to be in one of the signatures.
SIGNATURES: dict[str, tuple[str, ...]] = {
    "train_step($0": ("model: MLP", "x: Array", "scale: float", "-> Array"),
    "train_step(model, scale=2.0, $0)": ("model: MLP", "x: Array", "scale: float", "-> Array"),
    "nnx.jit(loss)($0)": ("model: MLP", "x: Array", "power: int", "-> Array"),
    "nnx.value_and_grad(loss)($0)": ("model: MLP", "x: Array", "power: int"),
    "nnx.grad(loss)(model, $0)": ("model: MLP", "x: Array", "power: int"),
    "nnx.value_and_grad($0)": ("argnums", "has_aux"),
}

# Go to definition: the file, and what stands in the line.
DEFINITIONS: dict[str, tuple[str, str]] = {
    "state.he$0ad": ("typed_nnx_models.pyi", "head"),
    "state.head.ker$0nel": ("typed_nnx_models.pyi", "kernel"),
    "model.he$0ad": ("models.py", "self.head = nnx.Linear("),
    "train_st$0ep": ("train.py", "def train_step("),
    "ML$0P": ("models.py", "class MLP("),
    "nnx.Line$0ar": ("linear.py", "class Linear("),
}

# Lines that end with the rule of pyright that reports them, and lines that are right.
MISTAKES: dict[str, str] = {
    "state.nope": "reportAttributeAccessIssue",
    "state['nope'].value": "reportAttributeAccessIssue",
    "state.layers[0].nope": "reportAttributeAccessIssue",
    "state.head.nope": "reportAttributeAccessIssue",
    "params.calls": "reportAttributeAccessIssue",
    "params.layers[0].norm.mean": "reportAttributeAccessIssue",
    "stats.head": "reportAttributeAccessIssue",
    "rest.head": "reportAttributeAccessIssue",
    "grads.calls": "reportAttributeAccessIssue",
    "train_step(model, x, scale='a')": "reportArgumentType",
    "train_step(model)": "reportCallIssue",
}
RIGHT = (
    "print(state.head.kernel[...] + state.layers[0].linear.kernel[...])",
    "print(params.layers[1].norm.scale, rest.layers[1].norm.var, stats.calls, grads.head.bias)",
    'print(state["layers"][0]["norm"].mean, params["head"].kernel.shape)',
    "print(state.flat_state(), len(params), sorted(state), dict(rest.items()))",
    "print(train_step(model, x, scale=2.0).shape, merged.head.kernel)",
    "optimizer.update(model, grads)",
)

# A project that uses flax.nnx, with the overlay for it. flax leaves attributes of its layers, such as
# `dtype`, without a type: whatever a filter takes may have them, so that more may be offered.
FLAX_COMPLETIONS = (
    offers("whole.$0", "layers head calls", "width kernel"),
    offers("whole.layers[0].$0", "linear norm dropout", "head"),
    offers("whole.head.$0", "kernel bias", "in_features"),
    offers('whole["$0"]', '"layers" "head" "calls"', others=False),
    offers("params.$0", "layers head", "calls"),
    offers("params.layers[0].norm.$0", "scale bias", "mean var"),
    offers("rest.$0", "layers calls", "width"),
    offers("rest.layers[0].norm.$0", "mean var", "scale bias"),
    offers("stats.layers[0].norm.$0", "mean var", "scale bias"),
    offers("model.$0", "layers head calls width", "kernel"),
)
FLAX_MISTAKES = {
    "whole.nope": "reportAttributeAccessIssue",
    "params.calls": "reportAttributeAccessIssue",
    "stats.layers[0].norm.scale": "reportAttributeAccessIssue",
}
FLAX_RIGHT = (
    "print(whole.head.kernel, params.layers[1].norm.scale, rest.layers[1].norm.var, stats.calls)",
    "nnx.merge(graphdef, params, rest)",
)
NEW_FIELD = offers("state.$0", "layers head calls tail")


def ask_about_flax(folder: Path) -> dict[str, Any]:
    """Return the answers to the questions about the project that uses flax.nnx."""
    project = Project(folder, runtime="flax.nnx")
    project.write()
    project.run_stubs()
    with language_server(folder) as server:
        codes = tuple(row.code for row in FLAX_COMPLETIONS)
        return {
            "completion": _ask(server, project, "completion", codes),
            "diagnostics": _diagnostics(server, project, (*FLAX_MISTAKES, *FLAX_RIGHT)),
        }


def ask_all(folder: Path) -> dict[str, Any]:
    """Return the answers to all questions, by kind and by code."""
    project = Project(folder)
    project.write()
    project.run_stubs()
    with language_server(folder) as server:
        answers: dict[str, Any] = {kind: _ask(server, project, kind) for kind in _KINDS}
        answers["diagnostics"] = _diagnostics(server, project, (*MISTAKES, *RIGHT))
        project.add_field()
        project.run_stubs()
        server.files_changed(project.models, *project.overlays)
        answers["new_field"] = _ask(server, project, "completion", (NEW_FIELD.code,))
    return answers


_KINDS: dict[str, tuple[str, ...]] = {
    "completion": tuple(row.code for row in COMPLETIONS),
    "hover": tuple(HOVERS),
    "signature": tuple(SIGNATURES),
    "definition": tuple(DEFINITIONS),
}


def _ask(
    server: Editor, project: Project, kind: str, codes: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Ask about each code at the end of the script.

    Whole lines are asked about in one text, so that the server checks it once; after an open
    bracket it would take what follows for its content.
    """
    questions = codes or _KINDS[kind]
    whole = [code for code in questions if _is_whole(code)]
    answers: dict[str, Any] = {}
    for codes_together in (whole, *([code] for code in questions if code not in whole)):
        text = "\n".join(codes_together)
        places = server.show(project.script, project.training + text)
        for code, place in zip(codes_together, places, strict=True):
            answers[code] = _answer(server, project.script, kind, place)
    return answers


def _is_whole(code: str) -> bool:
    return all(code.count(left) == code.count(right) for left, right in ("()", "[]"))


def _answer(server: Editor, file: Path, kind: str, place: Position) -> Any:
    match kind:
        case "completion":
            return server.complete(file, place)
        case "hover":
            return server.hover(file, place)
        case "signature":
            return server.signatures(file, place)
        case _:
            targets = server.definition(file, place)
            return [(target.path.name, target.text) for target in targets]


def _diagnostics(
    server: Editor, project: Project, lines: tuple[str, ...]
) -> list[tuple[int, str, str]]:
    """Return the messages about the script with more lines, of which the first has number 0."""
    start = project.training
    server.show(project.script, start + "\n".join((*lines, "")))
    first = start.count("\n") + 1
    found = server.diagnostics(project.script)
    return [(one.range.start.line + 1 - first, str(one.code or ""), one.message) for one in found]
