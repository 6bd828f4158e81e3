"""Recorded judge calls: append-only JSON-lines cassettes on vcrpy, replayed without the network.

matching            what makes two requests the same, and which responses are kept
record_format       the lines of a file
index               where everything is in a file
plain_file          files as they are stored: read, appended to, replaced
cell_file           the file of a cell: where it is, plain or compressed, its bytes, how it is replaced
pack_file           many cells of a panel in one compressed file, which may lie outside git
cell_cassette       the cassette of one cell: its name, what the plan wants of it, what it holds, what was used
cell_coverage       what a plan finds: there, missing, stale, damaged or unused
library             all cassettes of a panel: recorded answers by call
vcrpy_adapter       HTTP clients are answered from the library; stock vcrpy reads the files
storage             what is recorded is stored so that nothing is lost
integrity           `python -m recuse.cassettes check|compact|pack|fetch`: is a file sound, and how it is put right

Asking what is missing, within limits and a budget, is in `recuse.recording`."""
