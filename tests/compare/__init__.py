"""Everything the program answers, written down, and two such records laid side by side.

    python -m tests.compare record FOLDER     the tree it is run in, into FOLDER/record.jsonl
    python -m tests.compare diff OLD NEW      what a change of the code has changed for those who ask

A restructuring should change nothing here but what it means to. The only name taken from the project is
app.main.create_app; everything else is found by asking, so that modules may move.
"""
