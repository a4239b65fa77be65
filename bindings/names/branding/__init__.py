"""The institution on the public pages: its name, logo, contact, colour and statement."""
