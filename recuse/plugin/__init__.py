"""The pytest plugin: options, fixtures and hooks. The only part that imports pytest; it wires and computes nothing.

Everything heavy is imported when a test that asks about judges is collected: an environment that merely has Recuse
installed pays for these files alone, and meets names that begin with recuse only (`recuse.plugin.short_names`).
"""

pytest_plugins = ("recuse.plugin.command_line", "recuse.plugin.fixtures", "recuse.plugin.gathering")
"""In this order: pytest rewrites the assertions of a module as long as nobody has imported it."""
