"""``ActivePipeline``: ask and tell through the transformers of a scikit-learn pipeline."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coalface.errors import InputError, shortened
from coalface.learner.estimator import CoalClassifier
from coalface.rounds.queries import CostRanges, Queries
from coalface.sklearn_base import NotFittedError

if TYPE_CHECKING:
    from coalface.sklearn_base import Pipeline
else:
    from sklearn.pipeline import Pipeline


class ActivePipeline(Pipeline):
    """A scikit-learn ``Pipeline`` that ends in a learner, with the active loop: the learner gets transformed examples.

    The first examples that ``ask``, ``tell`` or ``interview`` get fit the transformers, which then stay as they are.
    To fit them to a whole pool first, call ``pipeline[:-1].fit(pool)``. All other parameters are those of the learner.

    >>> from sklearn.preprocessing import StandardScaler
    >>> from coalface import CoalClassifier
    >>> pipeline = ActivePipeline([("scale", StandardScaler()), ("learner", CoalClassifier(["walk", "fly"]))])
    >>> kilometres = [[1.0], [900.0]]
    >>> queries = pipeline.ask(kilometres)
    >>> pipeline.tell(kilometres, [[0.1, 0.9], [1.0, 0.3]], queries).predict(kilometres).tolist()
    ['walk', 'fly']
    """

    _ready = False  # whether this pipeline has fitted its transformers

    @property
    def learner(self) -> CoalClassifier:
        """The last step; an InputError if it is not a learner of coalface."""
        found = self.steps[-1][1]
        if not isinstance(found, CoalClassifier):
            raise InputError(
                f"The last step of an ActivePipeline must be a learner such as CoalClassifier, got {shortened(found)}."
            )
        return found

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the transformers, then the learner, as a ``Pipeline`` does; ``cost`` is passed on to the learner."""
        params = {name if "__" in name else f"{self.steps[-1][0]}__{name}": value for name, value in params.items()}
        super().fit(X, y, **params)
        self._ready = True
        return self

    def ask(self, X: Any, max_costs: int | None = None, **options: Any) -> Queries:
        """The costs worth asking for, as the learner's ``ask`` gives them."""
        return self.learner.ask(self._transformed(X), max_costs, **options)

    def tell(self, X: Any, cost: Any = None, asked: Any = None, late: bool = False, **options: Any) -> Self:
        """Learn the known costs, as the learner's ``tell`` does."""
        self.learner.tell(self._transformed(X), cost, asked, late, **options)
        return self

    def interview(self, X: Any, answer: Callable[[int, Any], float] | None = None, **options: Any) -> Self:
        """Ask about each example and learn its answers, as the learner's ``interview`` does."""
        self.learner.interview(self._transformed(X), answer, **options)
        return self

    def predict_cost(self, X: Any) -> NDArray[Any]:
        """The predicted cost of every label, (n, K)."""
        return self.learner.predict_cost(self._transformed(X, first=False))

    def cost_range(self, X: Any) -> CostRanges:
        """The range of every cost."""
        return self.learner.cost_range(self._transformed(X, first=False))

    def _transformed(self, X: Any, *, first: bool = True) -> Any:
        """What the transformers make of X; if they are not fitted and it may be the ``first``, X fits them."""
        learner = self.learner
        transformers = [step for _, step in self.steps[:-1] if step not in (None, "passthrough")]
        if first and not self._ready and not all(map(_is_fitted, transformers)):
            if getattr(learner, "round_", 1) > 1:
                raise InputError(
                    f"The transformers must be fitted as they were when the learner learned {learner.round_ - 1:,} "
                    "examples, got new ones. Call pipeline[:-1].fit(X) with the examples of then."
                )
            self[:-1].fit(X)
            self._ready = True
        for step in transformers:
            X = step.transform(X)
        return X


def _is_fitted(transformer: Any) -> bool:
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    return True
