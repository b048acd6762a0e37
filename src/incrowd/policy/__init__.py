"""What a release must satisfy and how to look for it: the policy, and the words that users write it in."""
