"""Characters: IRI productions, safe display, look-alikes and ANVL."""
