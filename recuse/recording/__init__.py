"""Recording: asks what the cassettes lack, within limits and a budget, and stops when it is told to. `panel_recording`
is one recording of a panel, call by call or by batch."""
