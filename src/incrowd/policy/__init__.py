"""What a release must satisfy and how to look for it: the policy, and how users write it."""
