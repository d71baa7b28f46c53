"""What is installed: versions, and whether they fit together."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from typed_nnx_codegen.doctor.finding import FIX, NOTE, OK, Finding

AREA: Final = "versions"
_OURS: Final = "typed-nnx"
# What is needed for what, of the parts of our package that a user installs; "" is the runtime.
_PARTS: Final = {
    "": "the runtime",
    "tools": "this command and the mypy plugin",
    "checkpoint": "typed_nnx.training.checkpoint",
    "notebook": "nnx.display in notebooks",
}
# What we do not ask for, and what it is for.
_BESIDE: Final = {"flax": "nnx.bridge and `typed-nnx verify`", "pyright": "checking with pyright"}


@dataclass(frozen=True)
class Clash:
    """Versions that do not go together, which their own metadata does not say.

    Attributes:
        name: A package.
        versions: Its versions that are affected.
        other: Another package.
        other_versions: The versions that it does not go with.
        effect: What happens.
    """

    name: str
    versions: str
    other: str
    other_versions: str
    effect: str


CLASHES: Final = (
    Clash("flax", "<=0.12.8", "jax", ">=0.12", "flax cannot be imported with this jax"),
)


def version_findings() -> Iterator[Finding]:
    """Yield what is installed of what we and our users need, and what does not fit."""
    yield _python()
    ours = _version(_OURS)
    if ours is None:
        remedy = "pip install 'typed-nnx[tools]', or pip install -e . in a clone"
        yield Finding(AREA, _OURS, FIX, "runs from source that is not installed", remedy)
        return
    yield Finding(AREA, _OURS, OK, ours)
    for name, requirement, part in _wanted():
        yield _package(name, requirement, part)
    yield from _plugins_of_jax()
    yield from _clashes()
    yield from _unmet()


def is_installed(name: str) -> bool:
    """Whether a package is installed."""
    return _version(name) is not None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _python() -> Finding:
    found = platform.python_version()
    wanted = _requires_python()
    if wanted and found not in SpecifierSet(wanted, prereleases=True):
        remedy = f"make an environment with Python {wanted}"
        return Finding(AREA, "Python", FIX, f"{found}, but {_OURS} needs {wanted}", remedy)
    return Finding(AREA, "Python", OK, found)


def _requires_python() -> str:
    if _version(_OURS) is None:
        return ""
    return importlib.metadata.metadata(_OURS)["Requires-Python"] or ""


def _wanted() -> Iterator[tuple[str, SpecifierSet, str]]:
    """Yield the packages that our metadata names, with what they are for."""
    for requirement in _requirements(_OURS, tuple(_PARTS)):
        for extra, part in _PARTS.items():
            if _applies(requirement, extra) and requirement.name != _OURS:
                yield requirement.name, requirement.specifier, part
                break
    for name, part in _BESIDE.items():
        yield name, SpecifierSet(), part


def _requirements(name: str, extras: Iterable[str] = ("",)) -> Iterator[Requirement]:
    """Yield what an installed package asks for, without what holds elsewhere."""
    for text in importlib.metadata.requires(name) or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:  # not ours to judge
            continue
        if any(_applies(requirement, extra) for extra in extras):
            yield requirement


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _package(name: str, wanted: SpecifierSet, part: str) -> Finding:
    found = _version(name)
    install = f"pip install '{name}{wanted}'" if wanted else f"pip install {name}"
    if found is None:
        needed = part == _PARTS[""]
        said = f"not installed: needed for {part}"
        return Finding(AREA, name, FIX if needed else NOTE, said, install)
    if not wanted.contains(found, prereleases=True):
        said = f"{found}, but {_OURS} needs {wanted} for {part}"
        return Finding(AREA, name, FIX, said, install)
    return Finding(AREA, name, OK, found)


def _plugins_of_jax() -> Iterator[Finding]:
    """Yield the accelerator plugins of jax, which have to be of the version of jaxlib."""
    jaxlib = _version("jaxlib")
    found = {
        canonicalize_name(str(each.name)): each.version
        for each in importlib.metadata.distributions()
        if each.name
    }
    for name, version in sorted(found.items()):
        if not (name.startswith("jax-") and name.endswith(("-plugin", "-pjrt"))):
            continue
        if jaxlib is not None and version != jaxlib:
            said = f"{version}, but jaxlib is {jaxlib}"
            remedy = f"pip install '{name}=={jaxlib}'"
            yield Finding(AREA, name, FIX, said, remedy)
        else:
            yield Finding(AREA, name, OK, version)


def _clashes() -> Iterator[Finding]:
    for each in CLASHES:
        name, other = _version(each.name), _version(each.other)
        if name is None or other is None:
            continue
        is_hit = SpecifierSet(each.versions).contains(name, prereleases=True)
        if is_hit and SpecifierSet(each.other_versions).contains(other, prereleases=True):
            said = f"{each.name} {name} and {each.other} {other}: {each.effect}"
            remedy = (
                f"a newer {each.name}, or pip install "
                f"'{each.other}{_opposite(each.other_versions)}' where there is none"
            )
            yield Finding(AREA, f"{each.name} with {each.other}", FIX, said, remedy)


def _opposite(versions: str) -> str:
    return versions.replace(">=", "<")


def _unmet() -> Iterator[Finding]:
    """Yield what packages that we use ask for and do not get, as `pip check` finds it."""
    problems = list(_unmet_requirements())
    for name, requirement, found in problems:
        said = f"{name} {_version(name)} needs {requirement.name}{requirement.specifier}"
        said += f", found {found}" if found else ", which is not installed"
        remedy = f"pip install '{requirement.name}{requirement.specifier}'"
        yield Finding(AREA, "requirements", FIX, said, remedy)
    if not problems:
        yield Finding(
            AREA, "requirements", OK, "all met: those of these packages and of what they need"
        )


def _unmet_requirements() -> Iterator[tuple[str, Requirement, str | None]]:
    waiting = [name for name, _, _ in _wanted()]
    seen: set[str] = set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen or _version(name) is None:
            continue
        seen.add(name)
        for requirement in _requirements(name):
            found = _version(requirement.name)
            if found is None or not requirement.specifier.contains(found, prereleases=True):
                yield name, requirement, found
            waiting.append(requirement.name)
