"""The alternatives of a rule or of a fold's formula: found, told, and shown on a page."""
