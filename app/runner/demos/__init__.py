"""Each demo as data: its words, knobs, rules and prediction. Listed in app/runner/catalog.py."""
