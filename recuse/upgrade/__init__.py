"""An upgrade: may one judge replace another? `recuse compare`, candidates of a panel, and judges changed in place."""
