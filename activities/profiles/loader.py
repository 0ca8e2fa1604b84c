"""Profiles from TOML: the built-in ones beside this module, and a user's own; searchers of a team.

A user's profile has the fields of `activities.contracts.profile.Profile`; see `activities/profiles/*.toml`.
"""

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError

from activities.configuration.wording import faults_of, keys_of
from activities.contracts.errors import DeterminatorError
from activities.contracts.profile import Profile, Specialist

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FOLDER = resources.files(__package__)
MAX_BYTES = 64 * 1024
"""A profile is a page of text; anything larger is not one."""


class ProfileError(DeterminatorError):
    """A profile is missing or cannot be read; the message says which and how to fix it."""


def load_profile(name: str, *, path: str | Path | None = None, folder: Path | None = None) -> Profile:
    """Return the profile in the file `path`.

    Without one, the profile `name` from the user's folder, else the built-in one. `auto` stands for `general`
    until a question has been read.

    Raises ProfileError.
    """
    if path is not None:
        return _read(Path(path).expanduser())
    if name == "auto":
        name = "general"
    if not _NAME.fullmatch(name):
        raise ProfileError(f"{name!r} is not a profile's name: use lower-case letters, digits, - and _")
    if folder is not None and (file := folder.expanduser() / f"{name}.toml").is_file():
        return _read(file)
    built_in = _FOLDER / f"{name}.toml"
    if built_in.is_file():
        return _read(built_in)
    names = ", ".join(profile_names(folder))
    raise ProfileError(f"there is no profile named {name}; there are: {names}")


def profile_names(folder: Path | None = None) -> list[str]:
    """Names of the built-in profiles and of those in the user's folder, in order."""
    names = {Path(entry.name).stem for entry in _FOLDER.iterdir() if entry.name.endswith(".toml")}
    if folder is not None and folder.expanduser().is_dir():
        stems = (file.stem for file in folder.expanduser().glob("*.toml"))
        names.update(name for name in stems if _NAME.fullmatch(name))
    return sorted(names)


def _read(file: Path | Traversable) -> Profile:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ProfileError(f"the profile {file} is over {MAX_BYTES // 1024} KiB; a profile is short text")
        # a misspelt key is an error, not a silent default
        profile = Profile.model_validate(tomllib.loads(data.decode()), extra="forbid")
    except OSError as error:
        raise ProfileError(f"cannot read the profile {file}: {error.strerror or error}") from error
    except ValidationError as error:
        faults = faults_of(error, "the file", keys_of(Profile))
        raise ProfileError(f"the profile {file} is wrong: {faults}") from error
    except UnicodeDecodeError as error:
        raise ProfileError(f"the profile {file} is not UTF-8 text; save it as UTF-8") from error
    except ValueError as error:
        raise ProfileError(f"the profile {file} is not valid TOML: {error}") from error
    if not profile.criteria:
        raise ProfileError(f"the profile {file} has no [[criteria]]: the judge needs at least one")
    if len({c.name for c in profile.criteria}) < len(profile.criteria):
        raise ProfileError(f"the profile {file} names a criterion twice")
    return profile


GENERAL = "general"
"""Searches where no kind of question is more fitting; in a team it is the searcher."""
LITERATURE = ("pubmed", "europepmc")
SPECIALISTS: tuple[Specialist, ...] = (
    Specialist(
        name="mechanism",
        does="how a drug, gene or pathway acts: targets, binding, expression, models of disease",
        sources=("opentargets", "chembl", "uniprot", "reactome", *LITERATURE),
    ),
    Specialist(
        name="clinical_trials",
        does="what was tried in people: designs, arms, outcomes, effects, trials under way",
        sources=("clinicaltrials", *LITERATURE),
    ),
    Specialist(
        name="drug_data",
        does="what is known of a drug: approval, label, doses, interactions, adverse events",
        sources=("openfda", "chembl", *LITERATURE),
    ),
    Specialist(name=GENERAL, does="any other question, and one of several kinds"),
)


def specialists_of(profile: Profile) -> Mapping[str, Specialist]:
    """Return the specialists of a run by name: the profile's in place of built-in ones, or beside them."""
    return {specialist.name: specialist for specialist in (*SPECIALISTS, *profile.specialists)}
