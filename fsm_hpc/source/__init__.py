"""Where a table comes from: find it, fetch it, read it, tell the kinds of its columns."""
