"""One HTML page of a study."""
