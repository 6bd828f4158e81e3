"""Multi-judge merchant risk assessment: consensus deviation, experts, transactions (papers 000 and 001)."""
