"""The one list of sources. Adding a source is one file and one line here.

A line has the source's name and its factory, `build(settings: Settings, http: Http) -> Source`. Nothing heavy
may be imported here: the shell's completion reads the names.
"""

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

ENTRY_POINTS = "determinator.sources"

SOURCES: tuple[tuple[str, str], ...] = (
    ("library", "activities.sources.library:build"),
    ("evidence", "activities.sources.evidence:build"),
    ("pubmed", "activities.sources.pubmed:build"),
    ("pmc", "activities.sources.pmc:build"),
    ("europepmc", "activities.sources.europepmc:build"),
    ("clinicaltrials", "activities.sources.clinicaltrials:build"),
    ("openfda", "activities.sources.openfda:build"),
    ("chembl", "activities.sources.chembl:build"),
    ("opentargets", "activities.sources.opentargets:build"),
    ("uniprot", "activities.sources.uniprot:build"),
    ("reactome", "activities.sources.reactome:build"),
    ("neo4j", "activities.sources.neo4j:build"),
    ("openalex", "activities.sources.openalex:build"),
    ("crossref", "activities.sources.crossref:build"),
    ("semanticscholar", "activities.sources.semanticscholar:build"),
    ("arxiv", "activities.sources.arxiv:build"),
    ("brave", "activities.sources.brave:build"),
    ("tavily", "activities.sources.tavily:build"),
    ("serper", "activities.sources.serper:build"),
    ("searxng", "activities.sources.searxng:build"),
    ("duckduckgo", "activities.sources.duckduckgo:build"),
)


def source_names() -> list[str]:
    """Every source that can be named, those of installed plugins included; nothing is loaded."""
    return [*(name for name, _ in SOURCES), *(point.name for point in user_points())]


def user_points() -> Iterable[EntryPoint]:
    """The entry points of installed plugins, by name."""
    return sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
