"""What a project has on record: the event log in its database, who owns it and who may enter."""
