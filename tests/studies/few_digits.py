"""The digits of the demo, but fewer of them, for tests that are not about the numbers it finds."""

from coalface.studies.demo import Digits

N_TRAIN, N_TEST = 150, 50


def use_few_digits(monkeypatch):
    """Let the demo learn from the first 150 training rows and test on 50."""
    every = Digits.load()
    few = Digits(every.X[:N_TRAIN], every.digit[:N_TRAIN], every.X_test[:N_TEST], every.digit_test[:N_TEST])
    monkeypatch.setattr(Digits, "load", lambda: few)
