"""A router chooses by quality and price together, and its questions are about that choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import Abstain, Budget, Coal, CoalClassifier, JsonLinesLedger, MemoryLedger
from coalface.errors import FileFormatError, InputError, UnansweredWarning
from coalface.rounds.round import Round
from coalface.routing import Router, TradeOff

MODELS = ["small", "middle", "large"]
PRICES = {"small": 0.25, "middle": 0.5, "large": 2.0}


def problem(n=80, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).astype(np.float32)
    hard = 1 / (1 + np.exp(-X @ random.normal(size=4)))
    loss = np.clip(hard[:, None] * np.array([0.9, 0.6, 0.2]) + 0.1 * random.normal(size=(n, 3)), 0, 1)
    return X, loss.astype(np.float32)


def trained(n=80, **settings):
    X, loss = problem(n)
    return Router(MODELS, PRICES, 2.0, model="online", **settings).tell(X, loss), X, loss


TRAINED = trained()


def by_length(texts):
    return [[0.01 * len(text), 0.02 * len(text), 1.0] for text in texts]


@given(weight=st.floats(0.01, 1000.0), seed=st.integers(0, 20))
@settings(max_examples=30, deadline=None)
def test_the_choice_has_the_least_weighted_loss_plus_price(weight, seed):
    router = TRAINED[0]
    X, _ = problem(20, seed)
    total = weight * router.predicted_loss(X) + router.price(X)
    chosen = router.predict(X, quality_weight=weight)
    paid = total[np.arange(20), [MODELS.index(model) for model in chosen]]
    np.testing.assert_allclose(paid, total.min(axis=1), rtol=1e-5, atol=1e-5 * weight)


def test_without_value_the_cheapest_wins_and_with_infinite_value_the_least_loss():
    router, X, _ = trained()
    assert (router.predict(X, quality_weight=0.0) == "small").all()
    assert (router.predict(X, quality_weight=1e-9) == "small").all()
    least = np.array(MODELS)[router.predicted_loss(X).argmin(axis=1)]
    np.testing.assert_array_equal(router.predict(X, quality_weight=np.inf), least)
    np.testing.assert_array_equal(router.predict(X, quality_weight=1e9), least)
    np.testing.assert_array_equal(router.learner.predict(X), least)


def test_without_value_the_loss_decides_between_equal_prices_and_candidates_count():
    router = Router(MODELS, [1.0, 1.0, 3.0]).tell([[1.0]] * 20, [[0.9, 0.1, 0.0]] * 20)
    assert router.predict([[1.0]], quality_weight=0.0).tolist() == ["middle"]
    assert router.predict([[1.0]], quality_weight=0.0, candidates=[[True, False, True]]).tolist() == ["small"]


def test_a_model_too_dear_to_be_worth_it_is_not_asked_about():
    X, loss = problem(300)
    cheap, dear = (Router(MODELS, price, 1.0, model="online", rule=Coal(warm_up=5)) for price in (0.0, [0.0, 0.0, 9.0]))
    for router in (cheap, dear):
        router.interview(X, lambda i, model: loss[i, MODELS.index(model)])
    assert (cheap.predict(X) == "large").mean() > 0.5
    assert (dear.predict(X) != "large").all()
    asked = [router.learner.model_.state.asked[2] for router in (cheap, dear)]
    assert (asked[0] > 100, asked[1]) == (True, 0)  # neither the warm-up nor audits ask about it


@pytest.mark.parametrize("price", [[0.0, 0.0, 9.0], lambda X: np.where(X[:, :1] > 0, [0.0, 0.0, 9.0], [9.0, 0.0, 0.5])])
@pytest.mark.parametrize("model", ["joint", "auto", None])
def test_no_question_is_about_a_model_whose_price_alone_rules_it_out_for_the_request(price, model):
    X, loss = problem(300)
    router = Router(MODELS, price, 1.0, **({} if model is None else {"model": model}))
    asked, visited = np.zeros((300, 3), bool), []

    def answer(i, name):
        visited.append(i)
        asked[i, MODELS.index(name)] = True
        return loss[i, MODELS.index(name)]

    router.interview(X, answer)
    prices = router.price(X)
    could_win = prices < prices.min(axis=1, keepdims=True) + 1.0
    assert not (asked & ~could_win).any()
    first = list(dict.fromkeys(visited))[:10]
    assert asked[first][could_win[first]].all()  # the warm-up asks about all others
    assert not (router.ask(X).mask & ~could_win).any()
    only_dear = np.tile([False, False, True], (300, 1))
    assert router.ask(X, candidates=only_dear, first_round=1).mask.any()  # the only candidate can always win


@pytest.mark.parametrize("model", ["joint", "auto", None])
def test_a_model_that_was_never_asked_about_can_be_chosen_for_more_money_and_learned_from_what_is_told(model):
    X, loss = problem(200)
    router = Router(MODELS, [0.0, 0.0, 9.0], 1.0, **({} if model is None else {"model": model}))
    router.interview(X, lambda i, name: max(loss[i, MODELS.index(name)], 0.6))
    assert "large" not in router.predict(X)  # without a warning about a model that cannot be chosen
    with pytest.warns(UnansweredWarning, match="No cost of 'large' was ever answered"):
        assert "large" in router.predict(X, quality_weight=1000.0)
    router.tell(X, np.tile([np.nan, np.nan, 0.0], (200, 1)), late=True)
    assert router.predicted_loss(X)[:, 2].mean() < 0.1


def test_an_interview_is_the_loop_of_ask_and_tell_and_both_know_what_they_spent():
    X, loss = problem()
    settings = {"asking_price": [1.0, 2.0, 4.0], "model": "online", "shuffle": False}
    one, other = (Router(MODELS, PRICES, 1.5, **settings) for _ in range(2))
    one.interview(X, lambda i, model: loss[i, MODELS.index(model)])
    for i in range(len(X)):
        row, known, mine = X[i : i + 1], np.full((1, 3), np.nan), np.zeros((1, 3), bool)
        first = queries = other.ask(row)
        while queries.next.any():
            known[queries.next] = loss[i : i + 1][queries.next]
            mine |= queries.next
            queries = other.ask(row, known=known, asked=mine)
        other.tell(row, known, asked=first.restricted_to(mine))
    np.testing.assert_array_equal(one.predicted_loss(X), other.predicted_loss(X))
    counts = one.learner.model_.state.asked[:3]
    assert one.outcomes_known_ == counts.sum()
    assert one.spent_ == pytest.approx(float(counts @ [1.0, 2.0, 4.0]))
    assert other.spent_ == pytest.approx(one.spent_)


@pytest.mark.parametrize("budget", [{"price": 3}, Budget(price=3)])
@pytest.mark.parametrize("asking_price", [None, [0.25, 0.125, 0.5]])
def test_a_budget_in_money_counts_what_outcomes_cost_and_is_never_passed(budget, asking_price, tmp_path):
    X, loss = problem()
    router = Router(MODELS, PRICES, 2.0, budget=budget, asking_price=asking_price)
    router.interview(X, lambda i, model: loss[i, MODELS.index(model)])
    prices = list(PRICES.values()) if asking_price is None else asking_price
    assert router.spent_ == pytest.approx(router.learner.model_.state.asked[:3] @ prices)
    assert 3 - max(prices) < router.spent_ <= 3
    assert router.learner.spent_ == pytest.approx(router.spent_)
    router.save(tmp_path / "models.router")
    assert Router.load(tmp_path / "models.router").ask(X).mask.sum() * min(prices) <= 3 - router.spent_


def test_a_budget_with_prices_of_its_own_or_in_costs_is_kept():
    for budget in ({"price": 3, "price_per_cost": 0.5}, {"costs": 6}):
        X, loss = problem()
        router = Router(MODELS, PRICES, 2.0, budget=budget)
        assert router.interview(X, lambda i, model: loss[i, MODELS.index(model)]).outcomes_known_ == 6  # noqa: B023


@pytest.mark.parametrize(
    ("price", "budget", "words"),
    [
        (by_length, {"price": 3}, "because price is a function. Pass price_per_cost as a mapping from models, such as"),
        (
            PRICES,
            {"price": 3, "over": 9},
            "it is spread over 9 examples. Pass price_per_cost as a number, such as mean",
        ),
    ],
)
def test_a_budget_in_money_that_cannot_count_the_prices_is_refused(price, budget, words):
    with pytest.raises(InputError, match=words):
        Router(MODELS, price, budget=budget, model="online")


def test_prices_can_follow_the_request():
    router = Router(MODELS, by_length)
    assert router.price(["four", "eleven char"]).tolist() == [[0.04, 0.08, 1.0], [0.11, 0.22, 1.0]]
    router.tell(["short", "long " * 50] * 10, [[0.5, 0.5, 0.5]] * 20)
    assert router.predict(["short", "long " * 50]).tolist() == ["small", "large"]


def test_a_saved_router_is_the_same_and_goes_on_the_same(tmp_path):
    router, X, loss = trained(asking_price=3.0)
    router.save(tmp_path / "models.router")
    again = Router.load(tmp_path / "models.router")
    assert (again.value_of_quality, again.spent_) == (router.value_of_quality, router.spent_)
    for one in (router, again):
        one.interview(X, lambda i, model: loss[i, MODELS.index(model)])
    np.testing.assert_array_equal(again.predicted_loss(X), router.predicted_loss(X))
    assert again.spent_ == router.spent_


def test_a_price_function_is_given_again(tmp_path):
    Router(MODELS, by_length).save(tmp_path / "models.router")
    with pytest.raises(FileFormatError, match="the function 'by_length', which is not saved: pass price="):
        Router.load(tmp_path / "models.router")
    assert Router.load(tmp_path / "models.router", price=by_length).price(["four"]).tolist() == [[0.04, 0.08, 1.0]]


def test_a_router_and_a_learner_do_not_load_each_other(tmp_path):
    Router(MODELS).save(tmp_path / "router")
    CoalClassifier(MODELS).save(tmp_path / "model")
    with pytest.raises(FileFormatError, match="holds a router, not a model"):
        CoalClassifier.load(tmp_path / "router")
    with pytest.raises(FileFormatError, match="holds a model, not a router"):
        Router.load(tmp_path / "model")


def test_a_ledger_rebuilds_the_router_without_its_prices(tmp_path):
    X, loss = problem()
    router = Router(MODELS, PRICES, 2.0).record_to(JsonLinesLedger(tmp_path / "rounds.jsonl"))
    router.interview(X, lambda i, model: loss[i, MODELS.index(model)])
    again = Router.from_ledger(JsonLinesLedger(tmp_path / "rounds.jsonl"), PRICES, 2.0)
    np.testing.assert_array_equal(again.predicted_loss(X), router.predicted_loss(X))
    np.testing.assert_array_equal(again.ask(X).mask, router.ask(X).mask)


def test_the_trade_off_has_the_mean_loss_and_price_of_what_predict_chooses():
    router, X, loss = trained()
    paid = np.random.default_rng(1).random(loss.shape)
    points = router.trade_off(X, loss, paid=paid)
    rows = np.arange(len(X))
    for place in (0, 5, points.chosen, 30, -1):
        chosen = router.predict(X, quality_weight=points.quality_weight[place])
        columns = [MODELS.index(model) for model in chosen]
        assert points.loss[place] == pytest.approx(loss[rows, columns].mean())
        assert points.price[place] == pytest.approx(paid[rows, columns].mean())
    assert points.quality_weight[points.chosen] == 2.0
    np.testing.assert_allclose(points.model_loss, loss.mean(axis=0), rtol=1e-5)
    assert points.to_frame()["in_use"].sum() == 1
    assert "<- in use" in points.table()


def test_the_loss_that_money_buys_is_the_lower_hull_of_the_points():
    weights, prices = np.arange(5.0), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    points = TradeOff(weights, np.array([0.8, 0.7, 0.2, 0.3, 0.1]), prices, 0, ("a",), np.ones(1), np.ones(1))
    assert points.frontier.tolist() == [0, 1, 2, 4]
    np.testing.assert_allclose(points.loss_at([1.0, 2.0, 3.0, 4.0, 9.0]), [0.8, 0.5, 0.2, 0.15, 0.1])
    assert np.isnan(points.loss_at(0.5))


def test_a_figure_is_written(tmp_path):
    router, X, loss = trained()
    router.trade_off(X, loss).save_figure(tmp_path / "trade-off.svg")
    assert "<svg" in (tmp_path / "trade-off.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"price": {"small": 1.0, "large": 2.0}}, "price must have a price for each of .* got none for 'middle'"),
        ({"price": {**PRICES, "huge": 9.0}}, "got one for 'huge', which is not a model"),
        ({"price": [1.0, -1.0, 2.0]}, "price must be at least 0, got -1 for 'middle'"),
        ({"price": [1.0, 2.0]}, "price must have one number per label"),
        ({"value_of_quality": 0.0}, "value_of_quality must be a finite number greater than 0, got 0.0"),
        ({"abstain": Abstain(0.5)}, "A Router has no abstain"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        Router(MODELS, **arguments)


def test_a_bad_weight_or_a_missing_loss_is_refused():
    router, X, loss = trained()
    with pytest.raises(InputError, match="quality_weight must be a number of at least 0, got -1"):
        router.predict(X, quality_weight=-1)
    with pytest.raises(InputError, match="quality_weights must be a number of at least 0, got 'x'"):
        router.trade_off(X, loss, quality_weights=["x"])
    with pytest.raises(InputError, match="answer must be a function"):
        router.interview(X, None)
    with pytest.raises(InputError, match="loss must have a known number for every example and model"):
        router.trade_off(X, np.where(loss < 0.1, np.nan, loss))


def test_questions_from_before_a_model_was_added_take_its_price_and_are_paid_for():
    X, loss = problem(6)
    ledger = MemoryLedger()
    router = Router(MODELS[:2], {name: PRICES[name] for name in MODELS[:2]}, 2.0, model="online").record_to(ledger)
    queries = router.ask(X)
    router.learner.add_label("large")
    later = Router.from_ledger(ledger, PRICES, 2.0).tell(X, loss[:, :2], asked=queries)
    assert later.spent_ == pytest.approx((queries.mask * [0.25, 0.5]).sum())
    assert [one.offset["large"] for one in ledger if isinstance(one, Round)] == [(2.0 - 0.25) / 2.0] * 6


@pytest.mark.parametrize("seed", range(3))
def test_questions_in_turn_do_not_make_the_dear_model_seem_better_or_worse_than_it_is(seed):
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(["add", "prove", "sum", "list", "parse", "sort", "table"], 4)) for _ in range(500)]
    hard = random.random(500) < 0.4  # which the words do not show
    chance = np.where(hard[:, None], [0.9, 0.35], [0.05, 0.01])
    loss = (random.random((500, 2)) < chance).astype(float)
    router = Router(["small", "large"], price={"small": 0.001, "large": 0.01}, value_of_quality=0.1)
    router.interview(texts, lambda i, model: loss[i, ["small", "large"].index(model)])
    assert router.outcomes_known_ < 0.6 * loss.size
    assert abs(router.predicted_loss(texts)[:, 1].mean() - loss[:, 1].mean()) < 0.05
