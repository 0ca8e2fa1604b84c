"""The one list of sources. Adding a source is one file and one line here.

A line has the source's name and its factory, `(Settings, Http) -> Source`, which is mostly its class. Nothing
heavy may be imported here: the shell's completion reads the names.
"""

from activities.plugins import points

SOURCES: tuple[tuple[str, str], ...] = (
    ("library", "activities.sources.library:LibrarySource"),
    ("evidence", "activities.sources.evidence:EvidenceSource"),
    ("pubmed", "activities.sources.pubmed:PubMed"),
    ("pmc", "activities.sources.pmc:Pmc"),
    ("europepmc", "activities.sources.europepmc:EuropePmc"),
    ("clinicaltrials", "activities.sources.clinicaltrials:ClinicalTrials"),
    ("openfda", "activities.sources.openfda:OpenFda"),
    ("chembl", "activities.sources.chembl:Chembl"),
    ("opentargets", "activities.sources.opentargets:OpenTargets"),
    ("uniprot", "activities.sources.uniprot:UniProt"),
    ("reactome", "activities.sources.reactome:Reactome"),
    ("neo4j", "activities.sources.neo4j:Neo4jSource"),
    ("openalex", "activities.sources.openalex:OpenAlex"),
    ("crossref", "activities.sources.crossref:Crossref"),
    ("semanticscholar", "activities.sources.semanticscholar:SemanticScholar"),
    ("arxiv", "activities.sources.arxiv:ArXiv"),
    ("brave", "activities.sources.brave:BraveSource"),
    ("tavily", "activities.sources.tavily:TavilySource"),
    ("serper", "activities.sources.serper:SerperSource"),
    ("searxng", "activities.sources.searxng:SearxngSource"),
    ("duckduckgo", "activities.sources.duckduckgo:DuckDuckGoSource"),
)


def source_names() -> list[str]:
    """Every source that can be named, those of installed plugins included; nothing is loaded."""
    return [*(name for name, _ in SOURCES), *(point.name for point in points("determinator.sources"))]
