"""What a repository writes for us to read: TOML files, names that become file names, modules named by dotted path."""
