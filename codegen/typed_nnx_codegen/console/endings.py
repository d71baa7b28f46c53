"""How a command ends when something goes wrong that is no bug of ours: one message, one status."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, NoReturn

import click

from typed_nnx_codegen.console.statuses import BROKEN_PIPE, COULD_NOT_RUN, INTERRUPTED

_REMEDIES: Final[Mapping[int, str]] = {
    errno.ENOSPC: "free some space there, then run it again",
    errno.EACCES: "run it as somebody who may use the file, or name another one",
    errno.EPERM: "run it as somebody who may use the file, or name another one",
    errno.EROFS: "name a place that can be written",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "name a folder where a folder is wanted",
    errno.ENOENT: "name a file that exists; its folder must exist too",
}


class ReaderGoneError(Exception):
    """What reads our output closed it. No OSError: click would end with a status of its own."""


@contextmanager
def telling_of_readers() -> Iterator[None]:
    """Turn the error of a pipe that was closed into one of ours."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error


@contextmanager
def ending_with_a_message() -> Iterator[None]:
    """Turn errors of use and of the operating system, and interrupts, into a message and a status."""
    try:
        try:
            yield
        finally:
            _flush()
    except click.ClickException as error:
        error.show()
        sys.exit(COULD_NOT_RUN)
    except (click.Abort, KeyboardInterrupt):
        click.echo("typed-nnx: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except (ReaderGoneError, BrokenPipeError):
        _drop_output()
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        _refuse(error)


def _flush() -> None:
    """Write out what is still waiting: what fails when Python ends is shown in its own way."""
    try:
        sys.stdout.flush()
    except OSError as error:
        error.filename = error.filename or "standard output"
        raise
    finally:
        sys.stderr.flush()


def message_of(error: OSError) -> str:
    """Return what an error of the operating system is about, in words, with a remedy if one is known."""
    places = [os.fsdecode(each) for each in (error.filename, error.filename2) if each is not None]
    where = " -> ".join(places) or "reading or writing"
    what = error.strerror or str(error) or type(error).__name__
    remedy = _REMEDIES.get(error.errno or 0)
    return f"{where}: {what}" + (f"\n  Fix: {remedy}" if remedy else "")


def _refuse(error: OSError) -> NoReturn:
    with suppress(OSError):
        click.echo(f"typed-nnx: {message_of(error)}", err=True)
    # What cannot be written now cannot be written when Python ends.
    _drop_output()
    sys.exit(COULD_NOT_RUN)


def _drop_output() -> None:
    """Let what is still to be written go nowhere: Python writes it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
