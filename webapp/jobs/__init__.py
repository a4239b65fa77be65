"""Jobs: long work that a request starts and that a thread of the server carries out. The database keeps them."""
