"""The command ``typed-nnx run``: a program that imports ``flax.nnx`` runs on typed_nnx, unedited."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import io
import os
import sys
import types
import zipfile
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any, NoReturn

import click

from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.statuses import INTERRUPTED

_FLAX_NNX = "flax.nnx"
_EXAMPLES = (
    ("typed-nnx run train.py --steps 100", "As `python train.py --steps 100` does."),
    ("typed-nnx run -m app.train --steps 100", "As `python -m app.train --steps 100` does."),
)


class _OnFirstUse(MetaPathFinder):
    """Puts typed_nnx in place of flax.nnx when that is imported for the first time.

    Not before: typed_nnx imports jax, and jax reads environment variables that a program may set.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
        /,
    ) -> ModuleSpec | None:
        if fullname != _FLAX_NNX:
            return None
        sys.meta_path.remove(self)
        importlib.import_module("typed_nnx").install_as_flax_nnx()
        return importlib.util.find_spec(fullname)


class _LikePython(TaughtCommand):
    """A command whose options end where the program begins: all else is for the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; after ``-m MODULE`` nothing is an option of ours."""
        if args and args[0].startswith("-m"):
            end = 1 if len(args[0]) > 2 else 2
            args = [*args[:end], "--", *args[end:]]
        return super().parse_args(ctx, args)


@click.command(
    name="run",
    cls=_LikePython,
    examples=_EXAMPLES,
    statuses={
        0: "the program succeeded; its own exit codes are passed on",
        1: "the program raised an exception",
        2: "no such program, or wrong use",
    },
    context_settings={"allow_interspersed_args": False},
)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m MODULE` does.")
@click.argument("arguments", metavar="[SCRIPT] [ARGUMENT...]", nargs=-1, type=click.UNPROCESSED)
def run(module: str | None, arguments: tuple[str, ...]) -> None:
    """Run a program with typed_nnx in place of flax.nnx.

    Every import of `flax.nnx`, in the program and in the libraries that it uses, gets typed_nnx; the
    rest of flax is unchanged. Processes that the program starts use flax's own.
    """
    if module is None and not arguments:
        raise click.UsageError("which program?\n  Fix: typed-nnx run script.py")
    sys.meta_path.insert(0, _OnFirstUse())
    try:
        if module is None:
            sys.argv = list(arguments)
            code, names = _script(arguments[0])
        else:
            sys.argv = ["-m", *arguments]
            _search_first(os.getcwd())
            code, names = _module(module)
            sys.argv[0] = names["__file__"]
        main = types.ModuleType("__main__")
        vars(main).update(names, __builtins__=builtins)
        sys.modules["__main__"] = main
        exec(code, vars(main))
    except (SystemExit, click.ClickException):
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a program raises
        _end_with(error)


def _script(path: str) -> tuple[types.CodeType, dict[str, Any]]:
    """Return the code of a file, or of what is to be run in a folder or zip file, and its names."""
    whole = os.path.join(os.getcwd(), path)
    if os.path.isdir(whole) or zipfile.is_zipfile(whole):
        _search_first(whole)
        spec = PathFinder.find_spec("__main__", [whole])
        if spec is None:
            raise click.UsageError(
                f"there is no '__main__' module in {path!r}.\n  Fix: name a script, or add __main__.py"
            )
        return _of_spec(spec)
    try:
        with io.open_code(whole) as file:
            source = file.read()
    except OSError as error:
        raise click.UsageError(f"cannot open {path!r}: {error.strerror}") from error
    _search_first(os.path.dirname(os.path.realpath(whole)))
    code = compile(source, whole, "exec", dont_inherit=True)
    return code, {
        "__file__": whole,
        "__cached__": None,
        "__loader__": SourceFileLoader("__main__", whole),
    }


def _module(name: str) -> tuple[types.CodeType, dict[str, Any]]:
    """Return the code of a module, of `__main__` in a package, and its names."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None:
        raise click.UsageError(
            f"no module named {name!r}, or a package that cannot be run.\n"
            "  Fix: install it, or run typed-nnx in the folder that has it"
        )
    return _of_spec(spec)


def _of_spec(spec: ModuleSpec) -> tuple[types.CodeType, dict[str, Any]]:
    loader: Any = spec.loader
    code = loader.get_code(spec.name)
    if code is None:
        raise click.UsageError(f"there is no Python code of {spec.name!r}")
    return code, {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }


def _search_first(folder: str) -> None:
    """Put a folder where Python puts that of the program, which here was the one of this command."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _end_with(error: BaseException) -> NoReturn:
    """End as Python does on an exception; the traceback begins in the program."""
    traceback = error.__traceback__
    while traceback is not None and _is_ours(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)
    sys.exit(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)


def _is_ours(file: str) -> bool:
    return file == __file__ or file.startswith("<frozen ")
