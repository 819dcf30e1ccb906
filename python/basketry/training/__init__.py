"""Batches for training: entries in a shuffled, reproducible order, a part of them for each rank, read ahead."""
