"""Pages of the PDF files that documents were read from, as pictures."""
