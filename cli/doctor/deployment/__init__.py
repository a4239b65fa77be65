"""The check of a running deployment over HTTP, or of an application in this process."""
