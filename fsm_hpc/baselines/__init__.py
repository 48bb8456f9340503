"""Random forest and XGBoost, tuned, to hold a formula against."""
