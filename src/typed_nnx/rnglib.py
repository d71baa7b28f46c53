"""``nnx.rnglib``: random number streams under the name of their module."""

from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import F as F
from typed_nnx._core.modules import Fargs as Fargs
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.rngs import RngCount as RngCount
from typed_nnx._core.rngs import RngKey as RngKey
from typed_nnx._core.rngs import Rngs as Rngs
from typed_nnx._core.rngs import RngState as RngState
from typed_nnx._core.rngs import RngStream as RngStream
from typed_nnx._core.variable import Variable as Variable
from typed_nnx._graph.rng_splits import SplitBackups as SplitBackups
from typed_nnx._graph.rng_splits import StreamBackup as StreamBackup
from typed_nnx._graph.rng_splits import backup_keys as backup_keys
from typed_nnx._graph.rng_splits import fork_rngs as fork_rngs
from typed_nnx._graph.rng_splits import reseed as reseed
from typed_nnx._graph.rng_splits import restore_rngs as restore_rngs
from typed_nnx._graph.rng_splits import split_rngs as split_rngs
from typed_nnx._graph.rng_splits import with_rngs as with_rngs
