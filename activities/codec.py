"""Encrypts every payload that leaves a client or a worker: AES-256-GCM, with keys from the environment.

`DETERMINATOR_CODEC_KEYS` holds one key or several, `id:key` separated by commas, each key 32 bytes in base64
(`openssl rand -base64 32` makes one). The first encrypts; all decrypt, so a key is rotated by putting a
new one in front, and dropped when the last history that was written with it has left the server. The name of
the key is the only thing about a payload that stays readable, and it is authenticated with it.

Not encrypted, because the server needs to read them: ids, task queues, search attributes. So a run whose
client has keys bears its question in none of these.
"""

import base64
import binascii
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from activities import credentials
from activities.configuration.file import ConfigError
from activities.contracts.errors import DeterminatorError, install
from activities.settings import secrets_in_files

VARIABLE = "DETERMINATOR_CODEC_KEYS"
ENCODING = b"binary/encrypted"
"""Marks an encrypted payload; the name that Temporal's own samples use, which its Web UI and CLI know."""
KEY_ID = "encryption-key-id"
KEY_BYTES = 32
NONCE_BYTES = 12
"""NIST SP 800-38D, 8.2: the length for which GCM is specified without a further hash."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class CodecError(DeterminatorError):
    """The keys cannot be used, or a payload cannot be decrypted with them."""


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    name: str
    secret: bytes


def new_key() -> str:
    return base64.b64encode(os.urandom(KEY_BYTES)).decode()


def parse_keys(text: str) -> tuple[Key, ...]:
    """Return the keys of a setting such as `2026b:BASE64,2026a:BASE64`; the first one encrypts.

    Raises CodecError, whose message holds no key.
    """
    keys: list[Key] = []
    for number, part in enumerate(filter(None, re.split(r"[,\s]+", text)), 1):
        name, colon, value = part.partition(":")
        if not colon or not _NAME.fullmatch(name):
            raise CodecError(
                f"{VARIABLE}: entry {number} is not `id:key`; an id is letters, digits, . _ and -"
            )
        try:
            secret = base64.b64decode(value, validate=True)
        except binascii.Error:
            raise CodecError(f"{VARIABLE}: the key {name} is not base64") from None
        if len(secret) != KEY_BYTES:
            raise CodecError(f"{VARIABLE}: the key {name} has {len(secret)} bytes; {KEY_BYTES} are needed")
        if any(name == key.name for key in keys):
            raise CodecError(f"{VARIABLE}: the id {name} is given twice")
        keys.append(Key(name, secret))
        credentials.register([value])
    return tuple(keys)


def keys_of(environment: Mapping[str, str] = os.environ) -> tuple[Key, ...]:
    """Return the keys that are set, in the variable or in the file that `DETERMINATOR_CODEC_KEYS_FILE` names.

    None when neither is. Raises CodecError.
    """
    try:
        text = environment.get(VARIABLE) or secrets_in_files(environment).get("codec_keys", "")
    except ConfigError as error:
        raise CodecError(str(error)) from error
    return parse_keys(str(text))


class AesGcmCodec(PayloadCodec):
    """Encrypts with the first key, decrypts with the one a payload names.

    What is not encrypted passes: a history may have begun before there were keys.
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        """Encrypt with the first key and decrypt with any.

        Raises CodecError without a key, or without the package `cryptography`.
        """
        if not keys:
            raise CodecError(f"{VARIABLE} holds no key")
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise CodecError(
                f"{VARIABLE} is set, and encryption is not installed: {install('encryption')}"
            ) from error
        self._ciphers = {key.name: AESGCM(key.secret) for key in keys}
        self._current = keys[0].name

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._encrypted(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See `PayloadCodec.decode`.

        Raises CodecError for a payload of a key that is not here, or one that was changed.
        """
        return [self._decrypted(payload) for payload in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        nonce, name = os.urandom(NONCE_BYTES), self._current.encode()
        data = self._ciphers[self._current].encrypt(nonce, payload.SerializeToString(), name)
        return Payload(metadata={"encoding": ENCODING, KEY_ID: name}, data=nonce + data)

    def _decrypted(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            return payload
        from cryptography.exceptions import InvalidTag

        name = payload.metadata.get(KEY_ID, b"")
        cipher = self._ciphers.get(name.decode(errors="replace"))
        if cipher is None:
            label = name.decode(errors="replace")
            raise CodecError(f"a payload is encrypted with the key {label!r}, which is not in {VARIABLE}")
        nonce, data = payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:]
        try:
            return Payload.FromString(cipher.decrypt(nonce, data, name))
        except InvalidTag:
            raise CodecError(
                f"a payload does not fit the key {name.decode()!r}: it was changed, or the key is another one"
            ) from None


def codec_of(environment: Mapping[str, str] = os.environ) -> AesGcmCodec | None:
    """Return the codec for the keys that are set; None when there are none.

    Raises CodecError.
    """
    keys = keys_of(environment)
    return AesGcmCodec(keys) if keys else None
