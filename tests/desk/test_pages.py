"""The pages as plain forms without their script: a person can label, another site cannot interfere."""

import re
from contextlib import ExitStack, closing

import numpy as np
import pytest
from matplotlib.image import imsave

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import STOPPED, NoQuestion
from coalface.web.tokens import Caller
from tests.desk.desks import LABELS, answers, desk_in_turn, open_desk
from tests.desk.serving import client_of, served


def log_in(client, name):
    answer = client.post("/login", data={"token": f"coal_{name}"})
    assert answer.status_code == 303, answer.text
    cookies = (cookie.value for cookie in client.cookies.jar)
    return form_key(next(value for value in cookies if value in answer.headers["set-cookie"]))


def form_key(token):
    return Caller("", "annotator", token).form_key


def fields_of(page):
    """The hidden fields of the page's answer form."""
    form = page[page.index('id="answer"') :]
    form = re.sub("<fieldset[^>]* disabled>.*?</fieldset>", "", form, flags=re.DOTALL)  # browsers do not send these
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form[: form.index("</form>")]))


def rows_of(client):
    """The labels of the rows that are shown without scripts."""
    return re.findall('<fieldset class="row" [^>]*>\n<legend><bdi>(.*?)</bdi></legend>', client.get("/label").text)


def answer_page(client, *costs):
    fields = fields_of(client.get("/label").text)
    return client.post("/label", data=fields | {f"cost-{i}": cost for i, cost in enumerate(costs)})


def test_a_missing_cell_is_a_dash(tmp_path):
    examples = [{"text": f"hello {i}", "note": "None", "days": 3 if i == 40 else None} for i in range(41)]
    desk = Desk(Project.create(tmp_path / "mail", examples, LABELS))
    with closing(desk), served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        page = client.get("/label").text
    assert re.findall('<th scope="row" dir="auto">days</th><td dir="auto">(.*?)</td>', page) == ["\N{EN DASH}"]
    assert re.findall('<th scope="row" dir="auto">note</th><td dir="auto">(.*?)</td>', page) == ["None"]


def test_a_person_without_scripts_can_answer_and_undo(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address) as client:
        csrf = log_in(client, "ann")
        (first,) = rows_of(client)
        assert answer_page(client, "3.0").status_code == 303
        assert answers(desk) == [("ann", {first: 3.0})]
        assert "serious (3)" in client.get("/label").text
        assert first not in rows_of(client)
        assert answer_page(client, "?").status_code == 303
        assert answers(desk)[1][1] == {answers(desk)[1][1].popitem()[0]: None}
        for _ in range(2):
            assert client.post("/undo", data={"csrf": csrf}).status_code == 303
        assert answers(desk) == []
        assert rows_of(client) == [first]


def test_the_page_hides_the_answers_of_other_annotators(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address) as client:
        question = desk.lease("ann")
        desk.answer("ann", question.id, question.lease_id, dict.fromkeys(question.labels, 3.0), "k")
        desk.release(question.lease_id, "ann")
        log_in(client, "bob")
        rows, page = rows_of(client), client.get("/label").text
        assert desk.held("bob")[0].example_id == question.example_id
        assert 'class="known"' not in page
        assert re.findall("<option>(.*?)</option>", page) == [label for label in LABELS if label not in rows]


def test_another_labels_cost_can_be_added(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        (first,) = rows_of(client)
        page = client.get("/label").text
        others = re.findall("<option>(.*?)</option>", page)
        assert sorted([first, *others]) == sorted(LABELS)
        fields = fields_of(page) | {"cost-0": "3.0", "cost-1": "4.0"}
        nameless = client.post("/label", data=fields | {"label-1": ""})
        assert (nameless.status_code, answers(desk)) == (422, [])
        assert "Choose the label" in nameless.text
        assert client.post("/label", data=fields | {"label-1": others[0]}).status_code == 303
        assert answers(desk) == [("ann", {first: 3.0, others[0]: 4.0})]
        assert desk.progress().costs == 1


def test_engineers_see_why_the_other_labels_are_not_asked(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        assert "Not asked" not in client.get("/label").text
        client.cookies.clear()
        log_in(client, "eve")
        asked = rows_of(client)
        (why,) = re.findall("Not asked:(.*?)</p>", client.get("/label").text, re.DOTALL)
        assert all(label in why for label in set(LABELS) - set(asked))
        assert "(perhaps later)" in why


@pytest.mark.parametrize(
    ("reason", "again"),
    [
        ("all-leased", "10"),
        ("looking", "0.5"),
        ("others-only", "30"),
        ("budget-spent", None),
        ("nothing-worth-asking", None),
    ],
)
def test_the_page_refreshes_where_waiting_helps(stranger, desk, monkeypatch, reason, again):
    log_in(stranger, "ann")
    monkeypatch.setattr(desk, "lease", lambda *_: NoQuestion(reason))
    page = stranger.get("/label").text
    assert f"<h1>{STOPPED[reason]}</h1>" in page
    assert re.findall('data-refresh="(.*?)"', page) == ([again] if again else [])
    assert ("refresh" in page) == (again is not None)  # also without scripts


def test_two_services_on_one_machine_have_two_cookies(tmp_path):
    with ExitStack() as stack:
        desks = [stack.enter_context(open_desk(tmp_path / name)) for name in ("a", "b")]
        one, other = (stack.enter_context(served(desk)) for desk in desks)
        client = stack.enter_context(client_of(one))
        log_in(client, "ann")
        client.base_url = other
        log_in(client, "eve")
        assert client.get("/dashboard").status_code == 200
        client.base_url = one
        assert client.get("/label").status_code == 200
        assert client.get("/dashboard").status_code == 403


def test_reloading_shows_the_same_question(stranger):
    log_in(stranger, "ann")
    first, second = (fields_of(stranger.get("/label").text) for _ in range(2))
    assert first["question_id"] == second["question_id"]


def test_the_text_of_an_example_is_never_markup(stranger):
    log_in(stranger, "ann")
    pages = []
    for _ in range(10):
        pages.append(stranger.get("/label").text)
        answer_page(stranger, "1.0", "1.0", "1.0")
    assert any("&lt;b&gt;wrong&lt;/b&gt;" in page for page in pages)
    assert not any("<b>" in page for page in pages)


@pytest.mark.parametrize("path", ["/label", "/undo", "/logout", "/skip", "/resume", "/resolve"])
def test_a_form_of_another_site_is_refused(stranger, desk, path):
    log_in(stranger, "ann")
    fields = fields_of(stranger.get("/label").text) | {"cost-0": "1.0"}
    for forged in ("", "0" * 64, form_key("coal_bob"), "é"):
        assert stranger.post(path, data=fields | {"csrf": forged}).status_code == 403
    assert answers(desk) == []


def test_the_api_accepts_a_cookie_only_with_a_form_key(stranger):
    csrf = log_in(stranger, "ann")
    path = "/api/v1/projects/tickets/queries:lease"
    assert stranger.post(path, json={}).status_code == 403
    assert stranger.post(path, json={}, headers={"x-csrf-token": csrf}).status_code == 200


def test_another_site_cannot_log_a_person_in(stranger):
    answer = stranger.post("/login", data={"token": "coal_ann"}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    answer = stranger.post("/login", data={"token": "coal_ann"}, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403


def test_a_same_origin_login_is_accepted_after_a_proxy_changed_the_host(stranger):
    headers = {"origin": "https://labels.example", "sec-fetch-site": "same-origin"}
    assert stranger.post("/login", data={"token": "coal_ann"}, headers=headers).status_code == 303


def test_scripts_and_other_sites_cannot_use_the_cookie(stranger):
    cookie = stranger.post("/login", data={"token": "coal_ann"}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_pages_send_strangers_to_log_in_and_annotators_away_from_the_dashboard(stranger):
    for path in ("/", "/label", "/dashboard", "/content/ticket/0"):
        assert stranger.get(path).headers["location"] == "/login"
    log_in(stranger, "ann")
    assert stranger.get("/dashboard").status_code == 403
    assert "Dashboard" not in stranger.get("/label").text


def test_ranges_and_the_reason_are_for_engineers(address):
    with client_of(address) as ann, client_of(address) as eve:
        log_in(ann, "ann")
        log_in(eve, "eve")
        hidden, shown = ann.get("/label").text, eve.get("/label").text
    assert "Asked because" not in hidden
    assert "The model predicts" not in hidden
    assert "Asked because" in shown
    assert shown.count("The model predicts 0 to ") == len(LABELS)


def test_annotators_see_the_content_of_their_own_questions_only(stranger, desk):
    log_in(stranger, "ann")
    other = desk.lease("bob")
    assert stranger.get(f"/content/{other.example_id}").status_code == 404


def test_html_examples_are_shown_in_a_sandbox(tmp_path):
    project = Project.create(tmp_path / "pages", [{"html": "<script>alert(1)</script>"}] * 1, LABELS)
    desk = Desk(project)
    with closing(desk), served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        page = client.get("/label").text
        (source,) = re.findall('<iframe src="(.*?)" sandbox', page)
        answer = client.get(source)
    assert answer.text == "<script>alert(1)</script>"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "alert" not in page


def test_a_picture_is_shown_and_no_other_file_can_be_fetched(tmp_path):
    (tmp_path / "photos").mkdir()
    imsave(tmp_path / "photos" / "a b.png", np.zeros((8, 8, 3)))
    desk = Desk(Project.create(tmp_path / "pets", tmp_path / "photos", LABELS))
    with closing(desk), served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        (source,) = re.findall('<img src="(.*?)"', client.get("/label").text)
        answer = client.get(source)
        assert (answer.headers["content-type"], answer.content[:4]) == ("image/png", b"\x89PNG")
        log_in(client, "eve")
        for path in ("../project.toml", "..%2fproject.toml", "%2fetc%2fpasswd", "a%00b"):
            assert client.get(f"/content/{path}").status_code == 404


def test_a_cost_that_breaks_the_rules_is_explained_on_a_page(stranger, desk):
    log_in(stranger, "ann")
    answer = answer_page(stranger, "9", "much")
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert "much" in answer.text
    assert answers(desk) == []


def test_half_a_character_in_a_form_is_refused(stranger, desk):
    log_in(stranger, "ann")
    fields = fields_of(stranger.get("/label").text) | {"cost-0": "1.0", "note": "\\ud800"}
    parts = "".join(
        f'--x\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    strange = {"content-type": "multipart/form-data; boundary=x; charset=raw_unicode_escape"}
    answer = stranger.post("/label", content=f"{parts}--x--\r\n", headers=strange)
    assert (answer.status_code, answers(desk)) == (422, [])
    assert "whole characters" in answer.text


def test_one_button_gives_the_true_label(tmp_path):
    matrix = [[0.0, 1.0, 4.0], [2.0, 0.0, 3.0], [4.0, 4.0, 0.0]]
    with open_desk(tmp_path, cost_matrix=matrix) as desk, served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        page = client.get("/label").text
        assert "<h1>Which label is right?</h1>" in page
        assert re.findall('name="label" value="([^"]+)"', page) == list(LABELS)
        assert client.post("/label", data=fields_of(page) | {"label": "Refunds"}).status_code == 303
        assert answers(desk) == [("ann", dict(zip(LABELS, matrix[1], strict=True)))]


def test_a_question_for_the_true_label_is_one_page_among_others(tmp_path):
    more = {"learner": {"price_of_truth": 2, "rule": {"warm_up": 1}}}
    with open_desk(tmp_path, **more) as desk, served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        page = client.get("/label").text
        assert "<h1>Which is it?</h1>" in page
        assert re.findall('name="label" value="([^"]+)"', page) == list(LABELS)
        assert client.post("/label", data=fields_of(page) | {"label": "Refunds"}).status_code == 303
        assert answers(desk) == [("ann", {"Billing": 4.0, "Refunds": 0.0, "Fraud": 4.0})]
        assert desk.state.model.learner.totals_.truths == 1


def test_without_a_question_the_page_says_why(tmp_path):
    with open_desk(tmp_path, budget={"examples": 1}) as desk, served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        answer_page(client, "1.0", "1.0", "1.0")
        assert "The budget is spent." in client.get("/label").text


def test_the_dashboard_shows_spend_annotators_labels_and_exports(stranger, desk):
    log_in(stranger, "ann")
    answer_page(stranger, "3.0", "?", "1.0")
    stranger.cookies.clear()
    log_in(stranger, "bob")
    assert "<fieldset" in stranger.get("/label").text
    stranger.cookies.clear()
    log_in(stranger, "eve")
    page = stranger.get("/dashboard").text
    assert "3 of 150 costs" in page
    assert '<th scope="row">ann</th>' in page
    assert '<th scope="row">bob</th>' not in page  # bob has opened a question and not answered it
    assert page.count('class="span"') == 3
    assert "/api/v1/projects/tickets/exports/model" in page


def test_one_of_something_is_singular(tmp_path):
    with desk_in_turn(tmp_path, budget={"examples": 1}) as desk, served(desk) as address, client_of(address) as client:
        log_in(client, "eve")
        answer_page(client, "3.0")
        label, dashboard = (" ".join(client.get(path).text.split()) for path in ("/label", "/dashboard"))
    assert "<span>1 of 1 example</span>" in label
    assert "<span>1 cost</span>" in label
    assert '<strong id="costs">1</strong><span>cost asked' in dashboard
    assert '<strong id="examples">1</strong><span>example asked about' in dashboard


def test_only_the_first_ten_levels_have_a_key(tmp_path):
    levels = [{"name": f"level {i}", "cost": float(i)} for i in range(12)]
    with open_desk(tmp_path, levels=levels) as desk, served(desk) as address, client_of(address) as client:
        log_in(client, "ann")
        page = client.get("/label").text
    ten = [str(i) for i in range(10)]
    assert re.findall("<kbd>([0-9]+)</kbd> level", page) == ten  # in the help
    assert re.findall("<small><kbd>([0-9]+)</kbd> costs", page) == ten * len(LABELS)
    assert page.count("costs 11</small>") == len(LABELS)  # each level shows its cost
