"""Which server is meant: flags over Temporal's own variables over its profile file; none means embedded."""

from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.service import GrpcCompression

from activities.private_files import write_whole
from activities.settings import Settings, user_config_path
from client.api import Determinator
from client.connection import compression, connection_config, open_client, plain_address
from client.embedded.binary import NoServerBinary, find_temporal, free_port
from client.failures import BadConnectionSettings, NoConnection
from tests.client.harness import determinator


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("host:7000", "host:7000"),
        ("host", "host:7233"),
        ("http://host:7000/", "host:7000"),
        (" 127.0.0.1:1 ", "127.0.0.1:1"),
        ("[::1]:7233", "[::1]:7233"),
        ("[::1]", "[::1]:7233"),
    ],
)
def test_an_address_is_accepted_as_people_write_it(given: str, plain: str) -> None:
    assert plain_address(given) == plain


def test_requests_are_compressed_for_other_machines_only() -> None:
    for near in ("127.0.0.1:7233", "localhost:7233", "[::1]:7233"):
        assert compression(near) is GrpcCompression.NONE
    assert compression("temporal.example.org:7233") is GrpcCompression.GZIP


@pytest.mark.parametrize("given", ["", "a b", "host:port", "host:7233/path", ":7233"])
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(BadConnectionSettings, match="host:port"):
        plain_address(given)


def test_flags_go_over_the_variables_of_temporal_and_these_over_the_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meant(address: str = "", settings: Settings | None = None) -> tuple[object, ...]:
        config = connection_config(address or None, settings)
        assert config is not None
        return config["target_host"], config["namespace"]

    settings = Settings(temporal_address="lab.example", temporal_namespace="lab")
    assert connection_config() is None, "the embedded server is meant"
    assert meant(settings=settings) == ("lab.example:7233", "lab")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "theirs")
    assert connection_config() is None, "a namespace alone makes no address"
    monkeypatch.setenv("TEMPORAL_ADDRESS", "other.example:1")
    assert meant() == meant(settings=settings) == ("other.example:1", "theirs")
    assert meant("third.example:2", settings)[0] == "third.example:2"
    monkeypatch.setenv("TEMPORAL_API_KEY", "hush")
    config = connection_config()
    assert config is not None
    assert (config["api_key"], bool(config["tls"])) == ("hush", True)


def test_a_configured_namespace_without_an_address_is_refused(home: Path) -> None:
    with pytest.raises(BadConnectionSettings, match="lab"):
        connection_config(settings=Settings(temporal_namespace="lab"))


def configure(text: str) -> None:
    """Write the user's own configuration file."""
    write_whole(user_config_path(), text.encode())


async def test_the_address_of_the_configuration_file_is_used(
    home: Path, dev_server: str, temporal_client: Client
) -> None:
    configure(f'[temporal]\naddress = "{dev_server}"\n')
    connection = await Determinator(Settings()).connect()
    assert (connection.embedded, connection.address) == (False, dev_server)
    assert not (home / "state").exists()


async def test_a_dead_address_is_reported_within_seconds() -> None:
    with pytest.raises(NoConnection, match="connection refused"):
        await open_client({"target_host": f"127.0.0.1:{free_port()}"})


async def test_a_silent_address_is_reported_within_the_time_given() -> None:
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        with pytest.raises(NoConnection, match="waited 1 s"):
            await open_client({"target_host": f"127.0.0.1:{port}"}, timeout=1)


def test_an_api_key_for_a_server_without_tls_is_reported_with_the_remedy(home: Path, dev_server: str) -> None:
    ran = determinator("list", "--address", dev_server, env={"TEMPORAL_API_KEY": "hush-hush"})
    assert ran.code == 3
    assert "it speaks no TLS: unset TEMPORAL_API_KEY" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert "hush" not in ran.err


def test_the_official_program_is_used_where_it_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = home.parent / "temporal"
    monkeypatch.setenv("DETERMINATOR_TEMPORAL", str(named))
    with pytest.raises(NoServerBinary, match="DETERMINATOR_TEMPORAL"):
        find_temporal()
    named.touch(0o755)
    assert find_temporal() == named
