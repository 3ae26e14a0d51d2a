"""What is measured of a question, each metric a function of its label and of what came back."""
