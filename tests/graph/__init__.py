"""Tests of the traversal engine: differential, stateful and memory tests."""
