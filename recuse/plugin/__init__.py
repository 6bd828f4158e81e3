"""The pytest plugin: options, fixtures and hooks. The only part that imports pytest; it wires and computes nothing.

Everything heavy is imported when a test that asks about judges is collected: an environment that merely has Recuse
installed pays for these files alone, and meets names that begin with recuse only (`recuse.plugin.short_names`).
"""

from recuse.plugin.collection import (
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
)
from recuse.plugin.command_line import SHORT, pytest_addoption, pytest_load_initial_conftests
from recuse.plugin.fixtures import (
    pytest_runtest_makereport,
    recuse_asking,
    recuse_elicitation,
    recuse_gate,
    recuse_may_replace,
    recuse_measure,
    recuse_ratings,
    recuse_suite,
    recuse_task,
    recuse_upgrade,
)
from recuse.plugin.gathering import (
    pytest_report_from_serializable,
    pytest_report_to_serializable,
    pytest_sessionfinish,
    pytest_sessionstart,
)

__all__ = [
    "SHORT", "pytest_addoption", "pytest_collection_finish", "pytest_collection_modifyitems", "pytest_configure",
    "pytest_generate_tests", "pytest_load_initial_conftests", "pytest_report_from_serializable",
    "pytest_report_to_serializable", "pytest_runtest_makereport", "pytest_sessionfinish", "pytest_sessionstart",
    "recuse_asking", "recuse_elicitation", "recuse_gate", "recuse_may_replace", "recuse_measure", "recuse_ratings",
    "recuse_suite", "recuse_task", "recuse_upgrade",
]  # fmt: skip
