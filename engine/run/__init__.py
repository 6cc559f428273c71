"""A whole run: days and dollars, failures, fine-tuning."""
