"""Is a release still good for training? Classifier errors on the original, the release, and neither."""
