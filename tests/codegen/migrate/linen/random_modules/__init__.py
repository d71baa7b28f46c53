"""Random Linen modules of statements that people write, migrated and compared with what they were."""
