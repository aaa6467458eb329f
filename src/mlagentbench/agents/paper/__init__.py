"""Agents of the paper: their loop, and what tells them apart."""
