"""One fold of a study: its settings, its files, its run from table to result.json."""
