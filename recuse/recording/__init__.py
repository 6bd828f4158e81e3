"""Recording: asks what the cassettes lack, within limits and a budget, and stops when it is told to.

panel_recording  one recording of a panel, call by call or by batch: who answers, one budget for all that is missing
asking           the loop: concurrent, interruptible
judge_queue      what a judge is asked next, how fast, and when its replies cannot be read
budget           what it will cost at most, and what was spent
progress         how far it is, how it is stopped and how it ended"""
