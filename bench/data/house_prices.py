from pathlib import Path

import numpy as np

from bench.data.catalogue import HOUSE_PRICES
from bench.data.tabular import Columns, Table, encoded, load_table, most_frequent

# In the order of the file, without Alley, PoolQC, Fence, MiscFeature and FireplaceQu, which are mostly missing; with
# the running number Id
# fmt: off
FEATURES = (
    "Id", "MSSubClass", "MSZoning", "LotFrontage", "LotArea", "Street", "LotShape", "LandContour", "Utilities",
    "LotConfig", "LandSlope", "Neighborhood", "Condition1", "Condition2", "BldgType", "HouseStyle", "OverallQual",
    "OverallCond", "YearBuilt", "YearRemodAdd", "RoofStyle", "RoofMatl", "Exterior1st", "Exterior2nd", "MasVnrType",
    "MasVnrArea", "ExterQual", "ExterCond", "Foundation", "BsmtQual", "BsmtCond", "BsmtExposure", "BsmtFinType1",
    "BsmtFinSF1", "BsmtFinType2", "BsmtFinSF2", "BsmtUnfSF", "TotalBsmtSF", "Heating", "HeatingQC", "CentralAir",
    "Electrical", "1stFlrSF", "2ndFlrSF", "LowQualFinSF", "GrLivArea", "BsmtFullBath", "BsmtHalfBath", "FullBath",
    "HalfBath", "BedroomAbvGr", "KitchenAbvGr", "KitchenQual", "TotRmsAbvGrd", "Functional", "Fireplaces",
    "GarageType", "GarageYrBlt", "GarageFinish", "GarageCars", "GarageArea", "GarageQual", "GarageCond", "PavedDrive",
    "WoodDeckSF", "OpenPorchSF", "EnclosedPorch", "3SsnPorch", "ScreenPorch", "PoolArea", "MiscVal", "MoSold",
    "YrSold", "SaleType", "SaleCondition",
)
_CATEGORIES = frozenset({
    "MSZoning", "Street", "LotShape", "LandContour", "Utilities", "LotConfig", "LandSlope", "Neighborhood",
    "Condition1", "Condition2", "BldgType", "HouseStyle", "RoofStyle", "RoofMatl", "Exterior1st", "Exterior2nd",
    "MasVnrType", "ExterQual", "ExterCond", "Foundation", "BsmtQual", "BsmtCond", "BsmtExposure", "BsmtFinType1",
    "BsmtFinType2", "Heating", "HeatingQC", "CentralAir", "Electrical", "KitchenQual", "Functional", "GarageType",
    "GarageFinish", "GarageQual", "GarageCond", "PavedDrive", "SaleType", "SaleCondition",
})
# fmt: on
_TARGET = "SalePrice"


def load_house_prices() -> Table:
    """Return the houses if the file is available, else scikit-learn's diabetes data; DataError if it is damaged."""
    return load_table(HOUSE_PRICES, read_house_prices, "load_diabetes")


def read_house_prices(path: Path) -> Table:
    """Read Kaggle's ``train.csv`` of houses in Ames, Iowa: 75 features of 1,460 houses, missing values filled.

    A missing number becomes the column's median, a missing category its most frequent one; categories are then coded in
    alphabetical order. Raises DataError, naming file and line or column, if the file is not such a table.
    Source: habo; selection, filling and coding from the authors' code.
    """
    columns = Columns(path, (*FEATURES, _TARGET))
    target = columns.numbers(_TARGET)
    columns.refuse(_TARGET, ~(target > 0), "a price above 0")
    features = []
    for name in FEATURES:
        missing = columns.missing(name)
        if missing.all():
            raise columns.error(name, 0, "a value somewhere in the column")
        if name in _CATEGORIES:
            texts = columns.texts(name)
            mode = most_frequent([text for text, gone in zip(texts, missing, strict=True) if not gone])
            features.append(encoded([mode if gone else text for text, gone in zip(texts, missing, strict=True)]))
        else:
            numbers = columns.numbers(name)
            columns.refuse(name, numbers < 0, "a number of at least 0")
            features.append(np.where(missing, np.median(numbers[~missing]), numbers))
    return Table(np.column_stack(features), target, FEATURES)
