"""Compiled code of the native solver: every file here decides what is compiled."""
