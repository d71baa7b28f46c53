"""What stays in Linen: bridges, and the modules around what stays."""
