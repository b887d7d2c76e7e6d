from typing import ClassVar, Literal

from bench.component import component
from bench.data.catalogue import HOUSE_PRICES
from bench.data.dataset import Dataset
from bench.data.house_prices import load_house_prices
from bench.data.tabular import Table
from bench.envs.tabular import TabularEnvironment


@component
class HousePrices(TabularEnvironment):
    """The price, from 75 features of 1,460 houses; without the file, the progression of diabetes instead.

    Source: habo, section 26.3; the split from the authors' code.
    """

    metric: ClassVar[Literal["accuracy", "r2"]] = "r2"
    dataset: ClassVar[Dataset | None] = HOUSE_PRICES

    def load(self) -> Table:
        return load_house_prices()
