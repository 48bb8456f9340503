"""One module for each verb; a new file here is a new verb."""
