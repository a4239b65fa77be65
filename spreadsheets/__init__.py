"""Spreadsheets of people: workbooks and text files, their columns, and the table that comes back. No HTTP."""
