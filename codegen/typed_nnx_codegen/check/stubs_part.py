"""The part ``stubs``: whether the overlay of the project says what its models are."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from typed_nnx_codegen.check.outcome import CLEAN, FAILED, FINDINGS, NOTHING, Outcome, Scope
from typed_nnx_codegen.model_stubs.command import BadOverlay, find_overlay, request_of
from typed_nnx_codegen.model_stubs.generation import overlay_state
from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.overlay_file import NAME
from typed_nnx_codegen.sarif.document import artifact, document

_STALE: Final = "stale-overlay"


def run(scope: Scope) -> Outcome:
    """Read the models anew and compare; nothing is written."""
    overlay = find_overlay(scope.folder)
    if overlay is None:
        return Outcome(NOTHING, f"no {NAME} here; `typed-nnx stubs PACKAGE` writes it")
    try:
        request = request_of(overlay, scope.folder)
    except BadOverlay as error:
        return Outcome(FAILED, str(error))
    if scope.python is not None:
        request = dataclasses.replace(request, python=scope.python)
    models = request.read()
    problems = tuple(f"{each.path}:{each.line}: {each.message}" for each in models.problems)
    state = overlay_state(request, models)
    if state.kind == "no models":
        where = ", ".join(request.sources)
        remedy = f"typed-nnx stubs PACKAGE, or remove {request.path}"
        log = _log(scope, models, has_run=False)
        return Outcome(FAILED, f"no models in {where}", problems, remedy, log=log)
    if state.kind != "current":
        message = f"{request.path} {state.problem}"
        log = _log(scope, models, stale=(overlay, message))
        return Outcome(FINDINGS, "out of date", (message, *problems), request.command, log=log)
    log = _log(scope, models)
    if problems:
        said = f"{len(problems)} could not be read"
        return Outcome(FINDINGS, said, problems, log=log)
    return Outcome(CLEAN, f"{request.path} is current", log=log)


def _log(
    scope: Scope, models: Models, *, stale: tuple[Path, str] | None = None, has_run: bool = True
) -> dict[str, object]:
    rule: dict[str, object] = {
        "id": _STALE,
        "shortDescription": {"text": "The overlay of the models is not what they are"},
        "help": {"text": "Write it anew with `typed-nnx stubs`, as its first line says."},
        "defaultConfiguration": {"level": "error"},
    }
    results = [_result(scope, *stale)] if stale else []
    notifications = [_notification(scope, each.path, each.message) for each in models.problems]
    driver: dict[str, object] = {
        "name": "typed-nnx stubs",
        "version": importlib.metadata.version("typed-nnx"),
        "rules": [rule] if stale else [],
    }
    invocation = {"executionSuccessful": has_run, "toolExecutionNotifications": notifications}
    return document(driver, scope.root.resolve(), results, invocations=[invocation])


def _result(scope: Scope, overlay: Path, message: str) -> dict[str, object]:
    return {
        "ruleId": _STALE,
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": message},
        "locations": _locations(scope, str(overlay)),
        "partialFingerprints": {"typedNnxStubs/v1": f"{_STALE} {overlay.name}"},
    }


def _notification(scope: Scope, path: str, message: str) -> dict[str, object]:
    return {"level": "error", "message": {"text": message}, "locations": _locations(scope, path)}


def _locations(scope: Scope, path: str) -> Sequence[dict[str, object]]:
    whole = (scope.folder / path).resolve()
    place = {"artifactLocation": artifact(whole, scope.root.resolve()), "region": {"startLine": 1}}
    return [{"physicalLocation": place}]
