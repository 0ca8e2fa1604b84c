"""Names of drugs, classes, substances, proteins, diseases and symptoms, from well-kept vocabularies.

Importing this loads no data; the first call opens the index (`index`).
"""

from activities.text.entities.index import Kind
from activities.text.entities.keys import key
from activities.text.entities.linking import Entity, link, of_kind, resolve, same, synonyms

__all__ = [
    "Entity",
    "Kind",
    "key",
    "link",
    "of_kind",
    "resolve",
    "same",
    "synonyms",
]
