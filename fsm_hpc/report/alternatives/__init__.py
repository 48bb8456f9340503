"""The alternatives of a rule or of a fold's formula: search, summary and explorer page."""
