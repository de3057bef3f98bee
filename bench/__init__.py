"""Measurements, as ratios within one run: figures of two machines or two days are never compared."""
