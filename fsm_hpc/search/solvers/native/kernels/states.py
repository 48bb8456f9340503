"""Numbers by which kernels call what a context makes of a row, and the fields of a stack frame."""

FALSE, TRUE, HOLE, ANTIHOLE = range(4)  # HOLE: what the hole says; ANTIHOLE: the opposite of it
LIVE, LIVE_COUNT, ACTIVE, ACTIVE_COUNT, BASE = range(5)  # where the lists of a stacked box are
UNLISTED = -1  # the count of active holes of a unit whose holes are not listed yet
