"""The command ``serve``, its server, its demo site and its logs."""
