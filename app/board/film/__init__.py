"""Films: what a scene shows as a pure function of its knobs and of time."""
