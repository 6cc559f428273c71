"""Each demo as data: its words, knobs, rules and prediction. Listed in app/demo/catalog.py."""
