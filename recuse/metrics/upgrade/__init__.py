"""A judge against the one that it would replace, on the same texts: what the upgrade changes, component by component.

    upgrade = Upgrade.within(ratings, incumbent="today", candidate="next")
    changes = measure_upgrade(upgrade)          # component -> Estimates, the candidate's less the incumbent's

Texts differ more from each other than judges do, so the two are compared text by text and the texts' own differences
cancel. Means do not suffice: a judge that turns the order of texts around, one that answers at random around the mean
and one that leaves out what it finds hard all keep the mean. `recuse.gates.upgrade_verdict` decides.
"""

from recuse.metrics.upgrade.changes import COMPONENTS, measure_upgrade
from recuse.metrics.upgrade.pairing import CHANGES, SETTINGS, Pair, Upgrade

__all__ = ["CHANGES", "COMPONENTS", "SETTINGS", "Pair", "Upgrade", "measure_upgrade"]
