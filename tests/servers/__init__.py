"""Servers on the loopback interface that tests start: real ones where they are installed, and one that misbehaves on request."""
