"""The published studies, repeated: `make studies`, or `python studies/run.py --only memory` for one."""
