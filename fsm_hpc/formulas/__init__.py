"""What a formula is: its size, its truth on a table, its text, and back from text."""
