"""reports/replies/: what lies behind the numbers, as pages without scripts, beside the report.

    replies/index.html                            what there is, and how large
    replies/<panel>/~judges/<judge>.html          every number about a judge, the worst first, with links both ways
    replies/<panel>/<task>/<protocol>/<judge>.html    every reply of a judge, with an address of its own
    replies/<panel>/<task>/<protocol>/~prompts.html   what was asked, every prompt once

Names may not begin with "~" or hold one (`recuse.configuration`), so no judge is ever in the way of such a page.
Who reads the cassettes writes the replies, be it a worker of pytest-xdist, since nobody else has them; the process that
reports writes the rest and deletes what no cassette stands behind any more. Nothing here enters results.json.
"""

from recuse.report.addresses import FOLDER, ReplyPlaces
from recuse.report.replies.numbers_of_judges import write_overview
from recuse.report.replies.transcript_pages import write_transcript

__all__ = ["FOLDER", "ReplyPlaces", "write_overview", "write_transcript"]
