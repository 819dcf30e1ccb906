"""The referees: what real ROOT and uproot say about a file, and how two such statements are compared.

Nothing here looks at basketry's own code; a test asks the command for a file and the referees for a verdict on it.
"""
