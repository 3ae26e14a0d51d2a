"""Label sets: questions with what is known about their answers, in the forms people keep them."""
