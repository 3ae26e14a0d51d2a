"""Answers as files for other programs: word processors, spreadsheets, reference managers."""
