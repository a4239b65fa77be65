"""Services of the operating system: forks, threads and files."""
