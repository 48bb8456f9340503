"""The job's side: run a fold where the job is, and say how it ended."""
