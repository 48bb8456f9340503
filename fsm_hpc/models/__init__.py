"""One rule to use: the scikit-learn face of the method."""
