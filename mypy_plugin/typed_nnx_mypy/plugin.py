"""The plugin class: a dispatch table from mypy's hooks to one file per concern."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from mypy.plugin import Plugin, ReportConfigContext


def _own_version() -> str:
    """Return the version of the installed distribution, or a mark for a bare source tree."""
    try:
        return version("typed-nnx")
    except PackageNotFoundError:
        return "source"


class TypedNnxPlugin(Plugin):
    """Precise types and checks for typed-nnx.

    It claims no hook yet, so mypy infers as it does without it.
    """

    def report_config_data(self, ctx: ReportConfigContext) -> dict[str, str]:
        """Name the plugin's version, so that mypy drops cached results of another version."""
        return {"typed_nnx_mypy": _own_version()}
