"""The values of names and the rules for changing them. These modules use no store, no HTTP and no clock."""
