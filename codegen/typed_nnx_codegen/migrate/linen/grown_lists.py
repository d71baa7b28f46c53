"""Lists in local names that a loop of the constructor appends submodules to."""

from __future__ import annotations

from dataclasses import replace

from typed_nnx_codegen.migrate.linen.frames import Recorder
from typed_nnx_codegen.migrate.linen.open_tuples import rest_of
from typed_nnx_codegen.migrate.linen.references import Headed, Repeated
from typed_nnx_codegen.migrate.linen.site_names import sites_in
from typed_nnx_codegen.migrate.linen.values import Value


def grown(stable: Value, after: Value, number: int, recorder: Recorder) -> Value:
    """Return what a name stands for after a loop of the constructor.

    Args:
        stable: What it stands for in any iteration.
        after: What the last iteration leaves; the submodules in it are those that count.
        number: The loop.
        recorder: What is written down.
    """
    sites = sites_in(rest_of(after) if isinstance(after, Headed) else after)
    if not isinstance(after, Repeated) or not sites:
        return stable
    # One submodule for each iteration: its sizes run with the loop.
    is_even = len(sites) == 1 and sites[0].loops[-1:] == (number,)
    depth = len(recorder.conditions)
    if is_even and len(sites[0].conditions) == depth and after.loop is None:
        return replace(after, loop=number)
    return after
