"""What a context makes of a row."""

FALSE, TRUE, HOLE, ANTIHOLE = range(4)  # HOLE: what the hole says; ANTIHOLE: the opposite of it
