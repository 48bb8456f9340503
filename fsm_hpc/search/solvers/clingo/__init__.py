"""The solver of the paper: answer set programming modulo difference logic."""
