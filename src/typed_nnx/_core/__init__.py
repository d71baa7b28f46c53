"""The objects of NNX: variables, pytrees, modules, containers, random streams, filters and State."""
