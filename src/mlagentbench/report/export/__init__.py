"""The report's numbers as files for other programs: spreadsheets and papers."""
