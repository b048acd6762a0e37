"""Privacy models: what a release promises about every class of people, each as one object."""
