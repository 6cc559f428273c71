"""Pipeline schedules, their closed forms, and the exact timeline of any of them."""
