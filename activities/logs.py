"""The logger of all that runs here.

Where nothing has set structlog up it writes to the standard `logging` of the program: unset, structlog prints
on stdout, among the program's own output. A command that logs nothing imports none of it.
"""

import structlog

if not structlog.is_configured():
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )

log = structlog.get_logger()
