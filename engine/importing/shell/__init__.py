"""Shell text read as it stands: what is set in it is put in its place, and nothing in it is run or looked up."""
