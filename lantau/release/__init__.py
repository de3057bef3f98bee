"""Releases: model, engine and parameters as one file that never changes once shipped."""

from lantau.release.load import read_release, release_path, releases_of
from lantau.release.model import Engine, Limits, Release, Resources, Weights

__all__ = ["Engine", "Limits", "Release", "Resources", "Weights", "read_release", "release_path", "releases_of"]
