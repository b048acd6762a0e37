"""What earlier releases were: a folder for the steward alone, and what later releases owe to it."""
