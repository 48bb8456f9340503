"""The tables of a study, in LaTeX, CSV, Markdown and for a terminal."""
