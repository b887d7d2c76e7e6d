from typing import ClassVar, Literal

from bench.component import component
from bench.data.catalogue import TITANIC
from bench.data.dataset import Dataset
from bench.data.tabular import Table
from bench.data.titanic import load_titanic
from bench.envs.tabular import TabularEnvironment


@component
class Titanic(TabularEnvironment):
    """Who survived, from seven features of 712 passengers; without the file, breast cancer instead.

    Source: habo, section 26.2; the split from the authors' code.
    """

    metric: ClassVar[Literal["accuracy", "r2"]] = "accuracy"
    dataset: ClassVar[Dataset | None] = TITANIC

    def load(self) -> Table:
        return load_titanic()
