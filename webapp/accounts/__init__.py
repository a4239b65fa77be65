"""People and programs that manage names: accounts, grants, tokens, sessions and sign-in."""
