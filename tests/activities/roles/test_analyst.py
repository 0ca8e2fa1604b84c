"""The analyst: its program is text that only the sandbox runs, asked for where something is left."""

from activities.contracts.effects import Program
from activities.contracts.step import BY_CODE
from tests.activities.roles.conftest import Case
from tests.fake_openai import says

CODE = "x = [e['estimate'] for e in effects]\nresult = {'estimate': np.mean(x)}"


async def test_a_program_is_returned_without_its_block_of_markdown(case: Case) -> None:
    case.server.script(says({"code": f"```python\n{CODE}\n```", "method": "A\nmean"}))
    charged = await case.thinker.think("analyst", case.step("analyst"))
    assert charged.output == Program(code=CODE, method="A mean")
    (asked,) = (request for request in case.server.asked if request.body)
    assert b"only_one_study" not in asked.body, "the reason is worded"
    assert b"dementia, HR 0.81, [0.69, 0.95] at 0.95" in asked.body


async def test_no_model_is_asked_where_all_effects_were_pooled(case: Case) -> None:
    step = case.step("analyst", not_pooled=())
    charged = await case.thinker.think("analyst", step)
    assert (charged.output, charged.model) == (Program(), BY_CODE)
    assert not [request for request in case.server.asked if request.body]
