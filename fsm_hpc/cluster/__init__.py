"""Many folds on machines: submit, run and monitor them, and check a site."""
