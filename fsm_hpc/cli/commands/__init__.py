"""One module for each command; a new file here is a new command."""
