"""The commands, one file each; every file has one `command`."""
