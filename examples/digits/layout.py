"""Where arrays lie: the model on every device, the rows of a batch spread over all of them."""

from __future__ import annotations

import os
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P


def offer_host_devices(count: int) -> None:
    """Make the CPU count as several devices; to be called before jax is first used for an array.

    It changes nothing for other platforms, whose devices are real.
    """
    flag = f"--xla_force_host_platform_device_count={count}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()


class Layout(NamedTuple):
    """Two ways to lay an array out over the devices of all processes."""

    everywhere: NamedSharding
    by_row: NamedSharding

    @property
    def devices(self) -> int:
        """The number of devices of all processes together."""
        return self.everywhere.mesh.size

    def spread(self, rows: np.ndarray) -> jax.Array:
        """Give each device its part of the rows; every process has them all at hand."""
        return jax.make_array_from_callback(rows.shape, self.by_row, lambda part: rows[part])


def data_parallel(devices: int) -> Layout:
    """Return the layout over the given number of devices of each process.

    Raises:
      RuntimeError: a process has fewer devices than that.
    """
    here = jax.local_device_count()
    if here < devices:
        raise RuntimeError(
            f"--devices {devices}: jax found {here} ({jax.default_backend()}).\n"
            f"  Fix: pass --devices {here}, or set JAX_PLATFORMS=cpu, where any number works."
        )
    chosen = [
        device
        for process in range(jax.process_count())
        for device in jax.local_devices(process_index=process)[:devices]
    ]
    mesh = jax.make_mesh((len(chosen),), ("data",), (AxisType.Auto,), devices=chosen)
    whole, parts = P(), P("data")  # type: ignore[no-untyped-call]  # jax has no types for it
    return Layout(NamedSharding(mesh, whole), NamedSharding(mesh, parts))
