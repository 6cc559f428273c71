"""What every rank runs whatever the strategy: the small GPT, its data, and what is measured. Imports torch; nothing of the server does."""
