"""Starting points: the businesses that Lantau was made for, each as a ready stack for its stage (E9)."""

from lantau.scenarios.model import Scenario, StageStart, scenarios
from lantau.scenarios.writing import Written, write_scenario

__all__ = ["Scenario", "StageStart", "Written", "scenarios", "write_scenario"]
