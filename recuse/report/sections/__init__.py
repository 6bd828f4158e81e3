"""The parts of the page that no single question owns, one file each."""
