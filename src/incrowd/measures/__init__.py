"""What a release lost: measures of its classes and of its values, each registered by one name."""
