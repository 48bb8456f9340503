"""The best formula within a size, and the scan over sizes."""
