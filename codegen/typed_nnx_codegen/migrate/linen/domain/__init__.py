"""What the migration of Linen code speaks of: classes, values, sizes, references."""
