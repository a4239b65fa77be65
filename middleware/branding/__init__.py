"""The branding of the public pages: the institution's name, logo, contact, colour and statement."""
