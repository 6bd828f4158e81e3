"""One run: what its tests concluded, gathered, decided and written to reports/; and shown again later."""
