"""The data sets of the project."""

from bench.data.dataset import Dataset
from bench.data.download import Download, PlainFiles
from bench.errors import DataError

MOVIELENS = Dataset(
    name="movielens",
    title="MovieLens 100K (GroupLens)",
    folder="movielens-100k",
    file="u.data",
    licence="research use with acknowledgement (Harper and Konstan 2015); it must not be redistributed or used "
    "commercially without permission from GroupLens",
    how_to_get="python -m bench.data fetch movielens",
    stand_in="generated surrogate ratings are used",
    download=Download(
        url="https://files.grouplens.org/datasets/movielens/ml-100k.zip",
        archive_checksum="md5:0e33842e24a9c977be4e0107933c0723",
        member="ml-100k/u.data",
        member_checksum="sha256:06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
    ),
)

YAHOO_R6A = Dataset(
    name="yahoo_r6a",
    title="R6A, Yahoo! Front Page Today Module user click log, version 1.0 (Yahoo! Webscope)",
    folder="yahoo-r6a",
    file="ydata-fp-td-clicks-v1_0.200905*",
    licence="non-commercial research under an agreement with Yahoo! Webscope; it must not be redistributed",
    how_to_get="ask Yahoo! Webscope for R6A and put its ten daily files, plain or gzip, into one folder",
    stand_in="a generated surrogate log is used",
)

OPEN_BANDIT = Dataset(
    name="open_bandit",
    title="Open Bandit Dataset (ZOZO Research)",
    folder="open-bandit",
    file="open_bandit_dataset/*/*/*.csv",
    licence="CC BY 4.0 (Saito et al. 2021)",
    how_to_get="download it from research.zozo.com/data.html and unpack the zip file into one folder",
    stand_in="the sample in the package obp is used: real data, 10,000 rows of each log",
)

TITANIC = Dataset(
    name="titanic",
    title="Titanic: Machine Learning from Disaster (Kaggle)",
    folder="titanic",
    file="train.csv",
    licence="the rules of the Kaggle competition, which every user accepts there",
    how_to_get="download train.csv from kaggle.com/competitions/titanic",
    stand_in="scikit-learn's breast-cancer data is used",
    text_checksum="sha256:9c51ae2abda7ea3b27553a5e9b68d2778d38c3dc208dba42b5ec8ad3bd61a165",
)

HOUSE_PRICES = Dataset(
    name="house_prices",
    title="House Prices: Advanced Regression Techniques (Kaggle)",
    folder="house-prices",
    file="train.csv",
    licence="the rules of the Kaggle competition, which every user accepts there",
    how_to_get="download train.csv from kaggle.com/competitions/house-prices-advanced-regression-techniques",
    stand_in="scikit-learn's diabetes data is used",
    text_checksum="sha256:34deba852ab25ef1ac8742324c3683e5c22297aa57daf4c462b5339d47558a43",
)

ALI_DISPLAY_AD = Dataset(
    name="ali_display_ad",
    title="Ali-Display-Ad, Ad Display/Click Data on Taobao.com (Tianchi, dataset 56)",
    folder="ali-display-ad",
    file="raw_sample.csv",
    licence="the terms on its page at Tianchi, which every user accepts there; it is not redistributed here",
    how_to_get="download dataset 56 from tianchi.aliyun.com and put raw_sample.csv, ad_feature.csv and "
    "user_profile.csv into one folder",
    stand_in="a generated surrogate log is used",
)

CDT_FACTORS = Dataset(
    name="cdt_factors",
    title="Factors of MovieLens 100K by the authors of CDT",
    folder="cdt-factors",
    file="movie.csv",
    licence="none is stated; the factors are derived from MovieLens 100K, whose terms apply; not redistributed here",
    how_to_get="python -m bench.data fetch cdt_factors",
    stand_in="factors that this suite computes are used",
    download=PlainFiles(
        url="https://raw.githubusercontent.com/kangyue1997/Bandit-Continuous-Hyperparameter-Optimization/"
        "d67bc02d37bfb2588a0d79aa67e03179ab63c768/CDT_exp/data",
        checksums={
            "movie.csv": "sha256:af01da1a124d77668dfeca2459def4d83ad4671dc64b8bd71826c260015e2dd1",
            "user.csv": "sha256:3ca9721e69f8b45d7b39cb6d288f07bb4025fa74fd14ab3d8acb521ad4dee380",
        },
    ),
)

CATALOGUE: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (MOVIELENS, CDT_FACTORS, YAHOO_R6A, OPEN_BANDIT, TITANIC, HOUSE_PRICES, ALI_DISPLAY_AD)
}


def find_dataset(name: str) -> Dataset:
    """Return the catalogue's entry called ``name``.

    Raises
    ------
    DataError
        If there is none; the message lists the valid names.
    """
    if name not in CATALOGUE:
        raise DataError(f"found the unknown data set '{name}', expected one of: {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
