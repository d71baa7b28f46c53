"""The migration of Haiku: its source becomes what that of Linen reads, with the names of its weights."""
