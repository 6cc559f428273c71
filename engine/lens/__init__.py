"""Small models for the wall: one idea each, exact in its own terms, beside what the estimate says."""
