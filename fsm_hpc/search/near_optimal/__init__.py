"""The Rashomon set: every formula within a few errors of the optimum, in families."""
