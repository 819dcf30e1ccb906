"""The referees: the answers of real ROOT and uproot about a file, and comparisons of such answers.

Nothing here uses basketry's own code: a test asks the command for a file and the referees for a verdict on it.
"""
