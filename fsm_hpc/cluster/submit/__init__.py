"""Hand folds to a scheduler, again, or take them back."""
