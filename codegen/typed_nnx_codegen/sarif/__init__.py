"""``typed-nnx sarif``: what mypy reports as SARIF, the format of code scanning."""
