"""The pages and files of the verifiable log on the web, and the place of a name in it."""
