"""Where a platform is short, told from its metrics before anything is bought (founding document S2, stage four)."""
