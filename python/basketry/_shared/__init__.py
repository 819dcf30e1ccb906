"""What several folders need: names and paths of users, progress, handles, members, signatures. Nothing here reads,
writes or calls a verb."""
