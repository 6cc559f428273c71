"""What happens while somebody watches: events, those who follow them, and what is under way. Knows no room and no torch.

events.py      an event is a frozen record; a family lists its kinds, and reads and writes them as lines of JSON
log.py         the events of one live thing: numbered, bounded, for any number of followers
registry.py    live things of one kind: refused, waiting, under way, ended, remembered
kept.py        what they say, on disk before it is seen
served.py      the registries of a server, and a log as server-sent events
"""
