"""Tests of the transforms, with scenarios that several of them share."""
