"""The rows of accounts in the database: tokens, sessions, identities and failed attempts to sign in."""
