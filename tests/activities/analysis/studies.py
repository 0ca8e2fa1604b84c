"""Published data sets of meta-analyses."""

from activities.contracts.effects import Arms, Effect, Measure

BCG = (
    ("Aronson 1948", 4, 119, 11, 128),
    ("Ferguson & Simes 1949", 6, 300, 29, 274),
    ("Rosenthal et al 1960", 3, 228, 11, 209),
    ("Hart & Sutherland 1977", 62, 13536, 248, 12619),
    ("Frimodt-Moller et al 1973", 33, 5036, 47, 5761),
    ("Stein & Aronson 1953", 180, 1361, 372, 1079),
    ("Vandiviere et al 1973", 8, 2537, 10, 619),
    ("TPT Madras 1980", 505, 87886, 499, 87892),
    ("Coetzee & Berjak 1968", 29, 7470, 45, 7232),
    ("Rosenthal et al 1961", 17, 1699, 65, 1600),
    ("Comstock et al 1974", 186, 50448, 141, 27197),
    ("Comstock & Webster 1969", 5, 2493, 3, 2338),
    ("Comstock et al 1976", 27, 16886, 29, 17825),
)
"""Tuberculosis with and without BCG vaccination: cases and others of both groups. Colditz et al. 1994, JAMA
271:698-702; `dat.bcg` of the R package metafor."""
ASPIRIN = (
    ("MRC-1 1974", 49, 615, 67, 624),
    ("CDP 1976", 44, 758, 64, 771),
    ("MRC-2 1979", 102, 832, 126, 850),
    ("GASP 1979", 32, 317, 38, 309),
    ("PARIS 1980", 85, 810, 52, 406),
    ("AMIS 1980", 246, 2267, 219, 2257),
    ("ISIS-2 1988", 1570, 8587, 1720, 8600),
)
"""Deaths after myocardial infarction with aspirin and placebo: events and totals of both groups. Fleiss 1993,
Stat Methods Med Res 2:121-145; `Fleiss1993bin` of the R package meta."""
STROKE = (
    ("Edinburgh", 155, 55, 47, 156, 75, 64),
    ("Orpington-Mild", 31, 27, 7, 32, 29, 4),
    ("Orpington-Moderate", 75, 64, 17, 71, 119, 29),
    ("Orpington-Severe", 18, 66, 20, 18, 137, 48),
    ("Montreal-Home", 8, 14, 8, 13, 18, 11),
    ("Montreal-Transfer", 57, 19, 7, 52, 18, 4),
    ("Newcastle", 34, 52, 45, 33, 41, 34),
    ("Umea", 110, 21, 16, 183, 31, 27),
    ("Uppsala", 60, 30, 27, 52, 23, 20),
)
"""Days in hospital with specialist and routine care: n, mean and standard deviation of both groups. Normand
1999, Stat Med 18:321-359; `dat.normand1999` of metafor."""


def bcg(measure: Measure) -> list[Effect]:
    return [
        Effect(
            study=name,
            outcome="tuberculosis",
            measure=measure,
            arms=Arms(events=a, total=a + b, control_events=c, control_total=c + d),
        )
        for name, a, b, c, d in BCG
    ]


def aspirin() -> list[Effect]:
    return [
        Effect(
            study=name,
            outcome="death",
            measure="OR",
            arms=Arms(events=a, total=n, control_events=c, control_total=m),
        )
        for name, a, n, c, m in ASPIRIN
    ]


def stroke() -> list[Effect]:
    """Mean differences with intervals of four standard-normal deviates in all, as a paper would print
    them."""
    effects = []
    for name, n1, m1, sd1, n2, m2, sd2 in STROKE:
        half = 1.959963984540054 * (sd1**2 / n1 + sd2**2 / n2) ** 0.5
        effects.append(
            Effect(
                study=name,
                outcome="days in hospital",
                measure="MD",
                estimate=m1 - m2,
                low=m1 - m2 - half,
                high=m1 - m2 + half,
            )
        )
    return effects
