"""Pages of scans as text recognition leaves them: ALTO, PAGE XML, hOCR, and METS over them."""
