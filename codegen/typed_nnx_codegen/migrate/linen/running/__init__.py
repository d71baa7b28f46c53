"""Goes through methods symbolically: what their expressions stand for, branch by branch and loop by loop."""
