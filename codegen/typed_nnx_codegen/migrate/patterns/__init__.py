"""What rules have in common: readings of older code, and pieces of new code."""
