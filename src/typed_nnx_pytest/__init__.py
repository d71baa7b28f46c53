"""The pytest plugin: ``--typed-nnx-verify`` has each use of a cached record verified in tests.

pytest loads :mod:`typed_nnx_pytest.plugin` in every environment that has typed-nnx, also for projects
that never ask for it. So the package imports pytest and the standard library only, switched on or off.
"""

from __future__ import annotations
