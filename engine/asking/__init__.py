"""Questions whose answers the engine knows: what is asked, how an answer is read, what is said to it."""
