"""Connecting a command: to the configured server, else to the embedded one."""

from activities.settings import Settings
from client.connection import Connection, Say, configured, open_client, quiet
from client.embedded.server import bring_up


async def connect(
    settings: Settings,
    address: str | None = None,
    *,
    worker: bool = True,
    renew: bool = False,
    say: Say = quiet,
) -> Connection:
    """Connect to the configured server, else to the embedded one, which is started when it is not running.

    With `worker`, an embedded server gets its background worker as well; with `renew`, a worker with other
    settings than the caller's is restarted. `say` receives what a person should know.
    Raises NoConnection and BadConnectionSettings.
    """
    config = configured(address)
    if config is not None:
        client = await open_client(config)
        return Connection(client, embedded=False, address=config["target_host"])
    return await bring_up(settings, worker=worker, renew=renew, say=say)
