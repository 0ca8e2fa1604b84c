"""Reading a question, planning a report and a team's turns, by vocabularies, aspects and a fixed rotation."""

import re
from collections.abc import Sequence

from activities.profiles.types import Aspect, Profile
from activities.steps import ManagerInput, Member, ParsedQuery, ParseQueryInput, PlanInput, TeamLedger
