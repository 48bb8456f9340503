"""What lies beneath: files, this machine, the terminal."""
