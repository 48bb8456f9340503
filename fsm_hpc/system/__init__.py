"""Files, processes, the machine and the terminal."""
