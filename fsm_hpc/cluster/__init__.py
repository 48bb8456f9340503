"""Many folds on machines: hand them out, run them, look at them, check a site."""
