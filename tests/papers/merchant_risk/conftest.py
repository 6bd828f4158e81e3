"""The ratings that the tests of measures share."""

from tests.metrics.conftest import (  # noqa: F401
    as_published,
    criteria,
    human,
    make_frame,
    make_repeats,
    own,
    published,
    published_frame,
    published_table,
    rate,
)
