"""Scorecards and traces become one HTML page that needs no network."""
