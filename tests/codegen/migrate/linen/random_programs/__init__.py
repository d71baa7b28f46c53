"""Random programs of parts that people write, migrated and compared with what they were."""
