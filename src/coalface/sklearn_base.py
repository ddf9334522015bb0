"""What this package takes from scikit-learn, with types; at run time, each name is scikit-learn's own.

scikit-learn has no annotations. To a type checker, a class that derives from its classes directly is ``Any``, so no
mistake in the use of a learner would be found.

>>> import sklearn.base
>>> BaseEstimator is sklearn.base.BaseEstimator
True
"""

from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    _T = TypeVar("_T")

    class BaseEstimator:
        """An estimator, whose parameters are the arguments of its constructor."""

        @classmethod
        def _get_param_names(cls) -> list[str]: ...

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters by name; with ``deep``, also those of parameters that are estimators."""

        def set_params(self, **params: Any) -> Self:
            """Change parameters; ``model__learning_rate`` is one of the parameter ``model``."""

        def set_fit_request(self, **requests: bool | str | None) -> Self:
            """Say which arguments of ``fit`` metadata routing passes on."""

        def set_partial_fit_request(self, **requests: bool | str | None) -> Self:
            """Say which arguments of ``partial_fit`` metadata routing passes on."""

        def set_predict_request(self, **requests: bool | str | None) -> Self:
            """Say which arguments of ``predict`` metadata routing passes on."""

        def set_score_request(self, **requests: bool | str | None) -> Self:
            """Say which arguments of ``score`` metadata routing passes on."""

        def __sklearn_tags__(self) -> Any: ...

        def __getstate__(self) -> dict[str, Any]: ...

        def __setstate__(self, state: dict[str, Any]) -> None: ...

    class ClassifierMixin:
        """Marks a classifier for scikit-learn; each learner has a ``score`` of its own."""

        def __sklearn_tags__(self) -> Any: ...

    class Pipeline(BaseEstimator):
        """Named steps, all but the last of which transform the examples."""

        steps: list[tuple[str, Any]]
        classes_: NDArray[Any]

        def __init__(self, steps: list[tuple[str, Any]], *, memory: Any = None, verbose: bool = False) -> None: ...

        def __len__(self) -> int: ...

        @overload
        def __getitem__(self, part: slice) -> "Pipeline": ...

        @overload
        def __getitem__(self, part: int | str) -> Any: ...

        def __getitem__(self, part: Any) -> Any: ...

        @property
        def named_steps(self) -> Any:
            """The steps by name."""

        def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
            """Fit all steps."""

        def predict(self, X: Any, **params: Any) -> NDArray[Any]:
            """What the last step predicts."""

        def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
            """The score of the last step."""

    class NotFittedError(ValueError, AttributeError):
        """The estimator was not fitted yet."""

    def available_if(check: Callable[[Any], bool]) -> Callable[[_T], _T]:
        """A decorator of methods that an estimator has only if the check says so."""

    def check_random_state(seed: Any) -> Any:
        """The ``RandomState`` that ``seed`` stands for; None stands for NumPy's own."""

    def clone(estimator: _T) -> _T:
        """An unfitted estimator with the same parameters."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import check_random_state
    from sklearn.utils.metaestimators import available_if

__all__ = ["BaseEstimator", "ClassifierMixin", "NotFittedError", "available_if", "check_random_state", "clone"]
