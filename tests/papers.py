"""A folder of documents that runs of whole commands search, and a question that they answer."""

from collections.abc import Mapping
from pathlib import Path

QUESTION = "Does metformin lower the risk of colorectal cancer?"
DOCUMENTS = {
    "cohort.txt": "Metformin use and colorectal cancer risk in a cohort\n\n"
    "We followed 47,351 patients with type 2 diabetes for nine years to study colorectal cancer. "
    "Metformin use was associated with a lower risk of colorectal cancer in adults with type 2 diabetes. "
    "The association was stronger in patients who took metformin for more than five years. "
    "We conclude that long-term metformin use may lower the risk of colorectal cancer.",
    "trial.txt": "A randomised trial of metformin after polypectomy\n\n"
    "Patients without diabetes were randomised to metformin 250 mg or to placebo after polypectomy. "
    "Metformin reduced the number of recurrent colorectal adenomas at one year compared with placebo. "
    "No serious adverse events of metformin were seen in this trial of colorectal cancer prevention.",
    "null.txt": "No effect of metformin on colorectal cancer incidence\n\n"
    "In a registry of 8,046 patients metformin was not associated with colorectal cancer incidence. "
    "The risk of colorectal cancer did not differ between metformin users and users of sulfonylureas.",
    "mechanism.txt": "Metformin inhibits growth of colorectal cancer cells\n\n"
    "Metformin activated AMPK and inhibited mTOR signalling in colorectal cancer cells. "
    "Growth of colorectal cancer cells was reduced by metformin in a dose-dependent manner.",
    "other.txt": "Storage of apples\n\nApples keep for months in a cool cellar with little light.",
}


def papers(folder: Path, documents: Mapping[str, str] = DOCUMENTS) -> Path:
    """The folder `papers` in another, with these documents."""
    made = folder / "papers"
    made.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (made / name).write_text(text)
    return made
