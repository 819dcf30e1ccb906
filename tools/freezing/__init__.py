"""The parts of tools/freeze.py."""
