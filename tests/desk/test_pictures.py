"""Pictures of the pages for the documentation, taken in a real browser: COALFACE_PICTURES=docs/pictures writes them."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from tests.desk.browsing import IN_A_BROWSER, log_in
from tests.desk.serving import served

pytestmark = IN_A_BROWSER
DOCS = Path(__file__).parents[2] / "docs"
LARGEST = 150_000  # bytes of a picture
TEAMS = {
    "Billing": ["The invoice shows the wrong company name.", "I was charged twice and do not know why."],
    "Refunds": ["I sent the shoes back and want my money.", "When does the refund reach my account?"],
    "Fraud": ["Someone ordered a phone in my name.", "My card was stolen and used in your shop."],
    "Delivery": ["The parcel says delivered, but nothing arrived.", "The courier left it in the rain."],
    "Technical": ["The app closes when I open my orders.", "The page shows an error when I log in."],
    "Legal": ["My lawyer will write if this is not settled.", "Which law allows you to keep my data?"],
}
NAMES = ("none", "minor", "annoying", "serious", "disaster")
LEVELS = [{"name": name, "cost": float(i)} for i, name in enumerate(NAMES)]
GUIDELINES = """How bad is it if this message reaches that team? Think of the customer.
A team that forwards it is minor. A team that acts on it wrongly is serious.

## Refunds
The customer asks for money back.

## Fraud
Someone else used the card or the account.
"""


def tickets(n):
    for i in range(n):
        team = list(TEAMS)[i * 7 % len(TEAMS)]
        text = f"Hello, this is about order {4471 + 13 * i}. {TEAMS[team][i % 2]} What happens now?"
        yield {"id": f"ticket-{1000 + i}", "text": text, "team": team}


def tickets_desk(folder, clock):
    examples = list(tickets(1500))
    desk = Desk(
        Project.create(
            folder / "tickets", [{"id": one["id"], "text": one["text"]} for one in examples], list(TEAMS),
            levels=LEVELS, budget={"costs": 900}, guidelines=GUIDELINES, title="Support tickets",
            question="How bad would it be to send this to ...", learner={"rule": {"warm_up": 0}},
        ),
        clock=clock,
    )  # fmt: skip
    return desk, {one["id"]: one["team"] for one in examples}


def label_some(desk, truth, clock, numbers):
    """Two annotators answer examples, one in about 80 seconds, with a flag and a note."""
    for i in numbers:
        who = ("ann", "bob")[i % 3 == 0]
        question = desk.lease(who)
        if isinstance(question, NoQuestion):
            return
        if i == 40:
            desk.flag(question.lease_id, who, "Two topics in one message. Which team comes first?")
        costs = {label: 0.0 if label == truth[question.example_id] else 2.0 + i % 2 for label in TEAMS}
        ahead = [label for label, needless in question.later if needless < 4.0]
        clock.now += 55 + 17 * (i % 4)
        given = {label: costs[label] for label in (*question.labels, *ahead)}
        note = "Not sure about Legal." if i == 60 else None
        desk.answer(who, question.id, question.lease_id, given, f"k{i}", 8.0 + i % 9, note, ahead=ahead)


@pytest.fixture
def pictures(tmp_path):
    """The folder for the pictures: that of the documentation if it is asked for, else one that is thrown away."""
    wanted = os.environ.get("COALFACE_PICTURES")
    return Path(wanted).resolve() if wanted else tmp_path


def test_pictures_of_the_pages(visitor, tmp_path, clock, pictures):
    clock.now = 1_760_000_000.0  # a fixed day
    desk, truth = tickets_desk(tmp_path, clock)
    with closing(desk), served(desk) as address:
        label_some(desk, truth, clock, range(4))
        taken = {}
        for name, who, path, dark, width, height in (
            ("label", "ann", "/label", False, 1200, 760),
            ("label-dark", "ann", "/label", True, 1200, 760),
            ("label-phone", "ann", "/label", False, 390, 800),
            ("dashboard", "eve", "/dashboard", False, 1200, 900),
            ("dashboard-dark", "eve", "/dashboard", True, 1200, 900),
        ):
            if name == "dashboard":
                label_some(desk, truth, clock, range(4, 90))
            visitor.set_screen(dark=dark, width=width, height=height)
            log_in(visitor, address, who)
            visitor.open(f"{address}{path}")
            if path == "/label" and not visitor.see("rows().some(isFilled)"):
                visitor.see("remember('sending', 'enter')")
                visitor.press("3", "4")
            visitor.see("document.querySelector('.desk')?.scrollIntoView()" if width < 600 else "scrollTo(0, 0)")
            assert visitor.see("document.documentElement.scrollWidth") <= width
            taken[name] = pictures / f"{name}.png"
            visitor.picture(taken[name])
        assert visitor.complaints() == []
        visitor.see("localStorage.clear()")
    sizes = {name: path.stat().st_size for name, path in taken.items()}
    assert all(5_000 < size < LARGEST for size in sizes.values()), sizes


def test_the_documentation_shows_every_picture():
    page = (DOCS / "labelling-service.md").read_text(encoding="utf-8")
    for path in (DOCS / "pictures").glob("*.png"):
        assert f"pictures/{path.name}" in page
        assert path.stat().st_size < LARGEST
