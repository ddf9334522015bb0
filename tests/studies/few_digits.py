"""The digits of the demo, but fewer of them, for tests that are not about the numbers it finds."""

from coalface.data import TrainTest
from coalface.studies.known import load_known

N_TRAIN, N_TEST = 150, 50


def use_few_digits(monkeypatch):
    """Let the demo learn from the first 150 training rows and test on 50."""

    def few(name):
        train, test = load_known(name)
        return TrainTest(train.subset(slice(N_TRAIN)), test.subset(slice(N_TEST)))

    monkeypatch.setattr("coalface.studies.demo.load_known", few)
