"""How well `tune` knows the size of a choice. A size that was tried is known; others are expected from samples, and how
many are tried depends on how fast the machine is, so a test cannot know which of the two it sees."""

#: The share by which an expected size may differ from the file that is made.
WORST = 0.05
