"""``CoalClassifier``: the public learner, a table of contents of what the other modules of this folder do."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

from numpy.typing import NDArray

from coalface.data.encoding.choice import Features
from coalface.learner import asking, labels, play, predicting, recorder, serving, state, teaching
from coalface.learner.account import Totals, beginning_now, spent_by, totals_of
from coalface.learner.budget import Budget
from coalface.learner.forecast import Forecast, forecast_of
from coalface.learner.monitor import Calibration, Saving, calibration_of, saves_less_than, saving_of
from coalface.learner.parameters import AS_PUBLISHED, Abstain, Audits, Coal, Seed, Variant, with_parts
from coalface.learner.recorder import FilePath
from coalface.learner.state import LearnerState
from coalface.long_work import LongWork
from coalface.models.choice import ModelName
from coalface.models.committee import CommitteeModel
from coalface.models.contract import CostModel
from coalface.models.joining import Member
from coalface.models.online import OnlineModel
from coalface.rounds.ledger import Ledger
from coalface.rounds.queries import Actions, CostRanges, Queries
from coalface.sklearn_base import ClassifierMixin, available_if


class CoalClassifier(ClassifierMixin, LearnerState):
    """A cost-sensitive classifier that asks only for costs that can still matter (COAL).

    ``model`` predicts the costs: "auto", "online", "ridge", "forest", "classes", "shared", "joint", or a ``CostModel``
    such as ``OnlineModel(learning_rate=0.1)``. ``rule`` asks for them: a name, or ``Coal(...)`` with parameters of its
    own. ``audits`` check the rule at random, ``abstain`` allows no label, ``budget`` limits what is asked.
    ``features`` turns texts and tables into numbers: "auto", "minilm" (sentence embeddings), an ``Encoder``, or a
    function from a list of texts to vectors. ``fit``, ``interview`` and ``simulate`` visit the rows in a random order,
    which ``random_state`` decides, unless ``shuffle`` is false. All parameters are explained in
    ``docs/parameters.md``.

    >>> learner = CoalClassifier(classes=["refund", "billing"], rule=Coal(warm_up=0))
    >>> queries = learner.ask([[1.0, 0.0]])
    >>> print(queries)
    2 of 2 costs asked for, on 1 of 1 examples
    >>> learner.tell([[1.0, 0.0]], cost=[[0.0, 0.8]], asked=queries).predict([[1.0, 0.0]])
    array(['refund'], dtype='<U7')

    With ``price_of_truth``, the price of one true label in costs, the learner asks for the true label where it would
    otherwise ask for at least that many costs. ``cost_matrix`` gives the costs of the true label, 0/1 without one.

    >>> learner = CoalClassifier(classes=["refund", "billing", "legal"], price_of_truth=2)
    >>> print(learner.ask([[1.0, 0.0]]).reason(0).splitlines()[0])
    round 1: asks for the true label, which gives 3 of 3 costs
    """

    # where scikit-learn routes metadata, searches and pipelines pass these on without a request of the user
    __metadata_request__score: ClassVar = {"cost": True, "candidates": True, "sample_weight": True}
    __metadata_request__fit: ClassVar = {**__metadata_request__score, "active": True}
    __metadata_request__partial_fit: ClassVar = {**__metadata_request__score, "classes": True}
    __metadata_request__predict: ClassVar = {"candidates": True}

    def __init__(
        self,
        classes: Iterable[Any] | None = None,
        *,
        cost_matrix: Any = None,
        cost_bounds: tuple[float, float] | Literal["auto"] = (0.0, 1.0),
        model: ModelName | CostModel | Mapping[str, Any] = "auto",
        rule: Variant | Coal | Mapping[str, Any] = "coal",
        mellowness: float = 0.12,
        budget: float | Budget | Mapping[str, Any] | None = None,
        audits: Literal["even", "loss"] | Audits | Mapping[str, Any] | None = "even",
        abstain: Abstain | Mapping[str, Any] | None = None,
        price_of_truth: float | None = None,
        features: Features = "auto",
        shuffle: bool = True,
        random_state: Seed = 0,
    ) -> None:
        self.classes = classes
        self.cost_matrix = cost_matrix
        self.cost_bounds = cost_bounds
        self.model = model
        self.rule = rule
        self.mellowness = mellowness
        self.budget = budget
        self.audits = audits
        self.abstain = abstain
        self.price_of_truth = price_of_truth
        self.features = features
        self.shuffle = shuffle
        self.random_state = random_state

    @classmethod
    def as_published(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """The paper's learner, as its authors run it in Vowpal Wabbit; ``others`` override.

        Vowpal Wabbit differs from the paper's text in four settings, for which see ``as_printed``: its slack is
        mellowness * ln(K (i - 1)), its width threshold 0.5 / sqrt(i); it accumulates squared features instead of
        squared gradients ("adax"), and it computes sensitivities after an imaginary update ("shadow"). A name given as
        ``rule`` changes the variant alone.

        >>> learner = CoalClassifier.as_published(classes=["walk", "fly"], rule__warm_up=10)
        >>> learner.rule
        Coal(alike=None, in_turn=False, miss_rate=None, slack='published', warm_up=10)
        >>> learner.audits, learner.model
        (None, OnlineModel(learning_rate=0.5))
        """
        params = {"model": OnlineModel(learning_rate=learning_rate), "mellowness": mellowness, **others}
        if isinstance(params.get("rule"), str):
            params["rule__variant"] = params.pop("rule")
        return cls(rule=Coal(**AS_PUBLISHED), audits=None).set_params(**params)

    @classmethod
    def as_printed(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """The paper's learner to the letter of its text; ``others`` override.

        The slack is mellowness * nu_(i-1) / (i - 1) with nu_n = 324 (d ln n + ln(8 K e (d + 1) n^2 / 0.05)) and d the
        number of features learned so far, the width threshold 1 / sqrt(i), the update AdaGrad's, and the sensitivity
        the derivative of the update. ``docs/paper.md`` says what comes of it.

        >>> learner = CoalClassifier.as_printed(classes=["walk", "fly"])
        >>> learner.rule.slack, learner.rule.width_scale, learner.model
        ('printed', 1.0, OnlineModel(accumulator='adagrad', learning_rate=0.5, sensitivity='derivative'))
        """
        model = OnlineModel(learning_rate=learning_rate, accumulator="adagrad", sensitivity="derivative")
        printed = {"model": model, "rule__slack": "printed", "rule__width_scale": 1.0}
        return cls.as_published(mellowness, **{**printed, **others})

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__warm_up=10`` or ``model__learning_rate=0.1`` sets one of a part.

        >>> learner = CoalClassifier(model="online").set_params(rule__warm_up=10, model__learning_rate=0.1)
        >>> learner.rule, learner.model
        (Coal(warm_up=10), OnlineModel(learning_rate=0.1))
        """
        return super().set_params(**with_parts(vars(self), params))

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        cost: Any = None,
        candidates: Any = None,
        sample_weight: Any = None,
        active: bool = False,
    ) -> Self:
        """Reset the learner, then learn all given class labels or costs in one pass, in a random order.

        If both ``y`` and ``cost`` are given, the costs are learned, and the labels of ``y`` name their columns, in
        ascending order unless ``classes`` names them. With ``active``, the learner asks for the costs that it wants,
        row by row, and learns only those, as in ``simulate``: so a search over ``rule``, ``mellowness`` or ``budget``
        compares what they ask. Otherwise it learns all costs, and these parameters make no difference.

        A row is learned, and counted, as often as its ``sample_weight`` (n,) says: twice with 2, never with 0. Of rows
        with 0.5, every other one is learned. If the weights are below 1 on average, they are scaled to that.

        >>> from coalface import CoalClassifier
        >>> X, y = [[0.0, 1.0], [1.0, 0.0]] * 100, ["no", "yes"] * 100
        >>> CoalClassifier().fit(X, y).costs_queried_, CoalClassifier().fit(X, y, active=True).costs_queried_ < 100
        (400, True)
        >>> CoalClassifier().fit([[0.0], [1.0]] * 10, ["no", "yes"] * 10).predict([[0.0], [1.0]]).tolist()
        ['no', 'yes']
        """
        recorder.refuse_recorded(self)
        fresh = type(self)(**self.get_params(deep=False))
        with LongWork("fitting CoalClassifier", after=3.0):
            play.fit_new(fresh, X, y, cost, candidates, sample_weight, active=active)
        state.become(self, fresh)  # only now, because learning may fail
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        cost: Any = None,
        classes: Any = None,
        candidates: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn all the given costs, in the order given: class labels (0/1 or ``cost_matrix``) or ``cost``.

        ``classes`` names the labels on the first call, in the order of the columns of ``cost``. ``sample_weight`` is as
        in ``fit``, but never scaled.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier().partial_fit([[1.0, 0.0]], cost=[[0.2, 0.9]], classes=["walk", "fly"])
        >>> learner.partial_fit([[0.0, 1.0]], ["fly"]).costs_queried_
        4
        """
        teaching.learn_all(self, X, y, cost, classes, candidates, sample_weight)
        return self

    def begin(self, classes: Any = None) -> Self:
        """Check the parameters and start with these labels, by default ``classes``; has no effect on a started learner.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).begin().classes_.tolist()
        ['walk', 'fly']
        """
        state.begin(self, classes)
        return self

    # -- asking and being told ------------------------------------------------------------------

    def ask(
        self,
        X: Any,
        max_costs: int | None = None,
        *,
        candidates: Any = None,
        known: Any = None,
        asked: Any = None,
        first_round: int | None = None,
        offset: Any = None,
        asking_price: Any = None,
    ) -> Queries:
        """The costs worth asking for, with reasons; the learner does not change.

        ``max_costs`` limits the questions to those with the widest ranges. ``candidates`` (n, K) restricts the labels
        of each example, or gives the features of its labels: see ``SharedModel``. ``known`` (n, K) holds the costs
        answered so far, NaN elsewhere: labels that they rule out are not asked about, nor are those ``asked`` already
        (by default the known ones). ``interview`` does this for you.
        A question about one example is not repeated for near-duplicates: see ``alike``. With ``price_of_truth``, the
        true label is asked for where at least that many costs are wanted: ``queries.truth`` marks these examples. With
        a ``budget``, no more is asked for than it allows.

        ``offset`` (n, K) or (K,) is the known part of each cost, in the unit of ``cost_bounds``. The total cost of a
        label is its offset plus the cost that is learned, and questions are about the least total. ``tell`` takes it
        from these questions. ``asking_price`` (n, K) or (K,) is what each question costs, in any unit. Of the questions
        that would settle as much, the cheapest comes first.

        Row r is decided at round ``first_round`` + r, by default the next rounds. Pass ``first_round`` if some earlier
        questions were not answered yet.

        If X is raw (texts, a table, records) and the learner is new, X decides how columns are encoded. The learner
        keeps that as ``encoder_``, so that ``tell`` and all later calls encode alike.

        >>> from coalface import CoalClassifier
        >>> queries = CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0]])
        >>> print(queries.reason(0))
        round 1: asks for 2 of 2 costs
          ask walk  predicted   0.000  range 0.000 to 1.000  warm-up
          ask fly   predicted   0.000  range 0.000 to 1.000  warm-up
        """
        known_parts = asking.Given(known, asked, offset, asking_price)
        return asking.questions(self, X, max_costs, candidates, first_round, known_parts)

    def tell(
        self,
        X: Any,
        cost: Any = None,
        asked: Any = None,
        late: bool = False,
        *,
        truth: Any = None,
        candidates: Any = None,
        offset: Any = None,
    ) -> Self:
        """Learn the known costs and close one round per row, even if nothing was asked about it.

        ``truth`` has the true label of each row, None or NaN where it is unknown; ``cost_matrix`` turns it into the
        costs of the row, in place of those in ``cost``.

        ``asked`` are the costs that were asked for: the result of ``ask``, or a boolean array, or by default the known
        ones. A cost that was asked for and is NaN means "can't tell". Questions that were told before, or that are
        about other examples, are refused. ``late`` answers are about examples whose rounds are closed: they are learned
        and counted as costs, but do not close a round. ``offset`` is the known part of each cost, as in ``ask``; if
        ``asked`` is what ``ask`` returned, its offset is used.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0, 0.0]], [[0.2, float("nan")]])
        >>> _ = learner.tell([[1.0, 0.0]], [[float("nan"), 0.9]], late=True)
        >>> learner.round_, learner.costs_queried_, learner.examples_queried_
        (2, 2, 1)
        >>> learner = CoalClassifier(["walk", "fly", "swim"], price_of_truth=2)
        >>> queries = learner.ask([[1.0, 0.0]])
        >>> print(queries)
        1 true label and 0 of 3 costs asked for, on 1 of 1 examples
        >>> learner.tell([[1.0, 0.0]], truth=["walk"], asked=queries).totals_.truths
        1
        """
        teaching.tell(self, X, teaching.Answers(cost, asked, truth, offset, late=bool(late)), candidates)
        return self

    def interview(
        self,
        X: Any,
        answer: Callable[[int, Any], float] | None = None,
        *,
        truth: Callable[[int], Any] | None = None,
        candidates: Any = None,
        offset: Any = None,
        asking_price: Any = None,
    ) -> Self:
        """Ask about each example, in a random order, one question after another, then learn its answers.

        ``answer(i, label)`` returns the cost of a label on example ``i``, NaN for "can't tell". ``truth(i)`` returns
        the true label where the learner asks for it (``price_of_truth``), None for "can't tell". With a price of at
        most 1 the learner asks for nothing else, and ``answer`` may be left out. ``offset`` and ``asking_price`` are as
        in ``ask``.

        With a ``budget`` without ``over``, the interview ends at the first question that does not fit.

        >>> from coalface import CoalClassifier
        >>> costs = {"walk": 0.2, "fly": 0.9}
        >>> learner = CoalClassifier(["walk", "fly"]).interview([[1.0]] * 99, lambda i, label: costs[label])
        >>> learner.round_, learner.costs_queried_ < 150
        (100, True)
        """
        given = asking.Given(offset=offset, asking_price=asking_price)
        play.interview(self, X, answer, truth, candidates, given)
        return self

    # -- predicting -----------------------------------------------------------------------------

    def predict(self, X: Any, *, candidates: Any = None, offset: Any = None) -> NDArray[Any]:
        """The label with the least predicted cost, per example, or that of ``abstain`` if its cost is less.

        A label without any answered cost counts as costing the middle of ``cost_bounds``; a warning says so once. One
        that was added later is not predicted before its first answer. A learner without any answer predicts the first
        label. ``offset`` (n, K) or (K,) is the known part of each cost, in the unit of ``cost_bounds``; the label with
        the least total is returned.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.predict([[1.0]]).tolist(), learner.predict([[1.0]], candidates=[[False, True]]).tolist()
        (['walk'], ['fly'])
        >>> learner.predict([[1.0]], offset=[0.9, 0.1]).tolist()
        ['fly']
        """
        return predicting.predicted_labels(self, X, candidates, offset)

    def predict_cost(self, X: Any, *, candidates: Any = None) -> NDArray[Any]:
        """The predicted cost of every label, (n, K); it may lie outside ``cost_bounds``. NaN if not a candidate.

        These are the numbers of the model, also for labels without an answered cost; the online model starts at the
        lower bound.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).tell([[1.0]] * 50, [[0.2, 0.9]] * 50).predict_cost([[1.0]]).round(1)
        array([[0.2, 0.9]])
        """
        return predicting.predicted_costs(self, X, candidates)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Minus the costs that ``predict`` compares, (n, K); of two labels, how much less the second costs, (n,).

        It is minus infinity for labels that are not predicted, such as retired ones.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]] * 50, [[0.2, 0.9]] * 50)
        >>> learner.decision_function([[1.0]]).round(1)
        array([-0.7])
        """
        return predicting.decision_values(self, X)

    @available_if(predicting.has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability that a label is the true one, (n, K): 1 minus its predicted 0/1 cost.

        Such estimates need not sum to 1. The nearest ones that do are taken, and averaged with equal probabilities,
        which count as one example. The largest is that of the best label. For calibrated probabilities, use
        scikit-learn's ``CalibratedClassifierCV``. A learner that was told graded costs gives a ranking only, and one
        with a ``cost_matrix`` in which mistakes differ in cost has no such method.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier().fit([[0.0], [1.0]] * 50, ["no", "yes"] * 50).predict_proba([[0.0], [1.0]]).round(1)
        array([[1., 0.],
               [0., 1.]])
        """
        return predicting.probabilities(self, X)

    def cost_range(self, X: Any, *, candidates: Any = None, same_round: bool = False) -> CostRanges:
        """The range of every cost if the example were decided now, ignoring the budget; always within ``cost_bounds``.

        The range of a label that is not a candidate is NaN. Row r is decided r rounds after the next one, as in
        ``ask``; with ``same_round``, all rows are decided at the next, so an example has the same range in any batch.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).cost_range([[1.0]]).width
        array([[1., 1.]])
        """
        return asking.ranges_of(self, X, candidates, same_round=same_round)

    def score(
        self, X: Any, y: Any = None, cost: Any = None, sample_weight: Any = None, *, candidates: Any = None
    ) -> float:
        """Minus the mean cost of the predictions, in the unit of ``cost_bounds``, given class labels or known costs.

        It is at most 0 with the default bounds, and the larger the better, as scikit-learn's searches expect. With
        class labels and neither ``cost_matrix`` nor abstaining, it is the accuracy minus 1. Where ``y`` is a label that
        the learner does not know, as in a fold of a rare label, every label costs the upper bound. ``sample_weight``
        (n,) weighs the examples.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.score([[1.0]], cost=[[0.25, 0.5]]), learner.score([[1.0]], ["fly"])
        (-0.25, -1.0)
        """
        return predicting.score_of(self, X, y, cost, sample_weight, candidates)

    # -- serving labels, where only the cost of the served one is seen --------------------------

    def act(
        self, X: Any, *, candidates: Any = None, exploration: float = 1.0, first_round: int | None = None
    ) -> Actions:
        """The label to serve on each example, drawn at random with a known probability; the learner does not change.

        Only labels that could be best are served: those whose cost range reaches below the least highest cost. Among
        them, a label is the rarer the more it is predicted to cost (inverse-gap weighting), and labels are explored
        less from round to round. A label without any known cost is tried first. ``exploration`` multiplies how often
        other labels than the best are served; 0 serves the best one always. The learner never abstains here.

        Row r is decided at round ``first_round`` + r, by default the next rounds. The draw depends on ``random_state``
        and the round, so the same call gives the same labels.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["refund", "billing"], random_state=1)
        >>> for _ in range(50):
        ...     action = learner.act([[1.0, 0.0]])
        ...     cost = 0.2 if action.labels[0] == "refund" else 0.9
        ...     _ = learner.observe([[1.0, 0.0]], action.labels, cost, action.probability)
        >>> learner.act([[1.0, 0.0]]).labels.tolist(), learner.totals_.seen, learner.costs_queried_
        (['refund'], 50, 0)
        """
        return serving.act(self, X, candidates, exploration, first_round)

    def observe(self, X: Any, label: Any, cost: Any, probability: Any, *, candidates: Any = None) -> Self:
        """Learn what the served labels cost, one per example, and close a round per row.

        ``label``, ``cost`` and ``probability`` have one entry per row, or are single values for all rows. The
        probability is that with which the label was chosen, by ``act`` or by the policy that wrote a log. It decides
        which model of a committee leads; costs are learned without weights. The costs count as seen, not as asked for.

        Where you also buy costs of a served example, pass all of them to ``tell`` instead, the served one included, and
        what you bought as ``asked``.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["refund", "billing"])
        >>> learner.observe([[1.0, 0.0], [0.0, 1.0]], ["refund", "refund"], [0.2, 0.7], 0.5).round_
        3
        """
        serving.observe(self, X, label, cost, probability, candidates)
        return self

    # -- files and ledgers ----------------------------------------------------------------------

    def save(self, path: FilePath) -> None:
        """Write the whole state to one file, atomically; ``load`` restores it exactly.

        >>> from coalface import CoalClassifier
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]]).save(f"{folder}/model.coalface")
        ...     CoalClassifier.load(f"{folder}/model.coalface").round_
        2
        """
        recorder.save(self, path)

    @classmethod
    def load(cls, path: FilePath, model: CostModel | None = None, features: Any = None) -> Self:
        """The learner that ``save`` wrote; a ``CostModel`` of your own is passed as ``model``, with its parameters.

        ``features`` is the function that turned texts into vectors, if there was one: it is not saved.
        """
        return recorder.load(cls, path, model, features)

    def record_to(self, ledger: Ledger) -> Self:
        """From now on, write every round to this empty ledger before it is learned."""
        recorder.record_to(self, ledger)
        return self

    @classmethod
    def from_ledger(cls, ledger: Ledger, model: CostModel | None = None, features: Any = None) -> Self:
        """Rebuild the learner from the ledger's rounds, bit for bit; it continues to record there.

        A ``CostModel`` of your own is passed as ``model``, with its parameters, and a function that turns texts into
        vectors as ``features``.

        >>> from coalface import CoalClassifier, MemoryLedger
        >>> ledger = MemoryLedger()
        >>> learner = CoalClassifier(["walk", "fly"]).record_to(ledger).tell([[1.0]], [[0.2, 0.9]])
        >>> (CoalClassifier.from_ledger(ledger).predict_cost([[1.0]]) == learner.predict_cost([[1.0]])).all()
        np.True_
        """
        return recorder.from_ledger(cls, ledger, model, features)

    def __getstate__(self) -> dict[str, Any]:
        """Copies do not write to the ledger of the original."""
        return {name: value for name, value in super().__getstate__().items() if name != "_recorder"}

    # -- labels ---------------------------------------------------------------------------------

    @property
    def labels_(self) -> labels.Labels:
        """The labels in the order of their columns, which of them are not retired, and which are rare."""
        return labels.labels_of(self)

    def add_label(self, label: Any, *, cost_matrix: Any = None) -> Self:
        """Add a label, in the last column, or bring back a retired one with what it has learned.

        A new label is uncertain: it is asked about on the next examples, ``warm_up`` of them or 10. Until its first
        answer any cost is possible, and it is not predicted. The other labels keep what they have learned. A learner
        with a ``cost_matrix`` needs the matrix of all labels, the new one last; the earlier costs must stay.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"], model="online").tell([[1.0]] * 50, [[0.2, 0.9]] * 50)
        >>> learner.add_label("swim").classes_.tolist()
        ['walk', 'fly', 'swim']
        >>> learner.ask([[1.0]]).reasons[0, 2].item(), learner.cost_range([[1.0]]).width[0, 2].item()
        ('new label', 1.0)
        """
        labels.add_label(self, label, cost_matrix)
        return self

    def rename_label(self, old: Any, new: Any) -> Self:
        """Rename a label; nothing else changes, and a budget with a price per label keeps its price.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.rename_label("walk", "hike").predict([[1.0]]).tolist()
        ['hike']
        """
        labels.rename_label(self, old, new)
        return self

    def retire_label(self, label: Any) -> Self:
        """Retire a label: it is never predicted or asked about again, unless ``add_label`` brings it back.

        Its column and all that it has learned are kept. Costs of it that are told later are learned too.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]] * 9, [[0.2, 0.9]] * 9).retire_label("walk")
        >>> learner.predict([[1.0]]).tolist(), learner.labels_.retired, learner.predict_cost([[1.0]]).shape
        (['fly'], ['walk'], (1, 2))
        """
        labels.retire_label(self, label)
        return self

    # -- what was spent, and what will be -------------------------------------------------------

    @property
    def round_(self) -> int:
        """The number of the next round, at least 1."""
        return totals_of(self).rounds + 1

    @property
    def costs_queried_(self) -> int:
        """The number of costs asked for so far, one by one."""
        return totals_of(self).costs

    @property
    def examples_queried_(self) -> int:
        """The number of examples with at least one cost, or the true label, asked for so far."""
        return totals_of(self).examples

    @property
    def totals_(self) -> Totals:
        """All counts of what was asked for and seen: see ``Totals``.

        >>> learner = CoalClassifier(["walk", "fly", "swim"], price_of_truth=2).tell([[1.0]], truth=["fly"])
        >>> learner.totals_.truths, learner.totals_.costs, learner.totals_.price
        (1, 0, 2.0)
        """
        return totals_of(self)

    @property
    def spent_(self) -> float:
        """The amount spent since the budget began, in its unit; without a budget, the price of all questions in costs.

        >>> from coalface import Budget, CoalClassifier
        >>> budget = Budget(price=100, over=50, price_per_example=3.0, price_per_cost=1.0)
        >>> CoalClassifier(["walk", "fly"], budget=budget).tell([[1.0]], [[0.2, 0.9]]).spent_
        5.0
        """
        return spent_by(self)

    def start_budget(self, budget: float | Budget | Mapping[str, Any]) -> Self:
        """Start a new budget at the next example; earlier questions do not count against it.

        >>> from coalface import Budget, CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).partial_fit([[1.0]], ["walk"])
        >>> learner.start_budget(Budget(costs=100, over=1000)).spent_
        0.0
        """
        self.budget = beginning_now(self, budget)
        return self

    def forecast(
        self, n_examples: int, price: float | Mapping[Any, float] | None = None, *, price_per_example: float = 0.0
    ) -> Forecast:
        """How many costs the learner will ask for on the next ``n_examples`` examples, with a 90 % interval.

        ``price`` is the price of a cost, or a mapping from labels to prices; the forecast then has the money, too. By
        default, it takes the prices of ``budget``. A budget limits the forecast to what is left of it. A true label
        counts as ``price_of_truth`` costs. See ``Forecast`` for the method.

        >>> from coalface import CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"])
        >>> print(learner.forecast(10_000))
        the next 10,000 examples: 1,770 costs (490 to 9,128) on 1,770 examples (490 to 9,128)
        >>> _ = simulate(learner, [[1.0, 0.0], [0.0, 1.0]] * 250, [[0.0, 1.0], [1.0, 0.0]] * 250)
        >>> learner.forecast(500, price=0.02).costs.highest < 120
        True
        """
        return forecast_of(self, n_examples, price, price_per_example)

    # -- what it says about itself --------------------------------------------------------------

    @property
    def saving_(self) -> Saving | None:
        """The most that further questions could save per example; None if it cannot be estimated yet: see ``Saving``.

        The estimate needs audits and at least 100 rounds answered as they were asked.

        >>> from coalface import Audits, CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"], audits=Audits(0.2))
        >>> learner.saving_ is None
        True
        >>> _ = simulate(learner, [[1.0, 0.0], [0.0, 1.0]] * 500, [[0.0, 1.0], [1.0, 0.0]] * 500)
        >>> learner.saving_.rounds, learner.saving_.high < 0.1
        (1000, True)
        """
        return saving_of(self)

    def should_stop(self, saving: float) -> bool:
        """Whether further questions would save less than ``saving`` per example: the whole interval lies below it.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(classes=["walk", "fly"]).should_stop(saving=0.02)
        False
        """
        return saves_less_than(self, saving)

    @property
    def calibration_(self) -> Calibration | None:
        """How often the best label was missed, as audits measure it; None if the slack does not follow them.

        >>> from coalface import Coal, CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"], model="forest", rule=Coal(miss_rate=0.05))
        >>> _ = simulate(learner, [[1.0, 0.0], [0.0, 1.0]] * 200, [[0.0, 1.0], [1.0, 0.0]] * 200)
        >>> learner.calibration_.stated, learner.calibration_.measured
        (0.05, 0.0)
        """
        return calibration_of(self)

    @property
    def committee_(self) -> list[Member]:
        """The members of the model "auto", and what their answers have cost recently; no member with other models.

        >>> learner = CoalClassifier().fit([[0.0, 1.0], [1.0, 0.0]] * 20, ["no", "yes"] * 20)
        >>> [(member.name, member.leads) for member in learner.committee_]
        [('online', False), ('forest', True), ('rbf', False)]
        """
        model = getattr(self, "model_", None)
        return model.members if isinstance(model, CommitteeModel) else []

    @property
    def cost_bounds_(self) -> tuple[float, float]:
        """The bounds of costs in use; with "auto", those of the answers so far, and (0, 1) before the first.

        >>> learner = CoalClassifier(["walk", "fly"], cost_bounds="auto").tell([[1.0]], [[20.0, 50.0]])
        >>> learner.cost_bounds_, learner.tell([[1.0]], [[10.0, 90.0]]).cost_bounds_
        ((20.0, 50.0), (0.0, 90.0))
        """
        return state.scale_of(self).ends

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input, texts, categories and missing values are supported."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
