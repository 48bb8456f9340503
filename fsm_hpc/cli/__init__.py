"""The command line: one file for each verb, and what a person sees."""
