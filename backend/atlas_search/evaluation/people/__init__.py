"""What people say: labels that they write in the page, and ratings of answers."""
