"""Names of drugs, classes, substances, proteins, diseases and symptoms, from well-kept vocabularies.

Importing this loads no data. The first call opens an index in the user's cache folder, and builds it there
when the vocabularies are new.
"""

from activities.text.entities.definitions import abbreviations
from activities.text.entities.keys import key
from activities.text.entities.linking import Entity, link, of_kind, prepare, resolve, same, synonyms
from activities.text.entities.vocabularies import Kind

__all__ = [
    "Entity",
    "Kind",
    "abbreviations",
    "key",
    "link",
    "of_kind",
    "prepare",
    "resolve",
    "same",
    "synonyms",
]
