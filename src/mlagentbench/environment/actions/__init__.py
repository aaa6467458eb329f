"""The actions an agent may take, one file each."""
