"""The command line: one file for each command, and what a person sees."""
