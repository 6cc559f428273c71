"""Who talks to whom, over which links, how much and how long."""
