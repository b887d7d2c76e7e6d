from dataclasses import dataclass, field

import numpy as np

from bench.data.log import Log

USER_FEATURES = (
    "cms_segid",
    "cms_group_id",
    "final_gender_code",
    "age_level",
    "pvalue_level",
    "shopping_level",
    "occupation",
    "new_user_class_level",
)
AD_FEATURES = ("cate_id", "campaign_id", "customer", "brand", "price")


@dataclass(frozen=True, eq=False)
class AdLog(Log):
    """The users and ads of a log with their features, and for every user the ads that were shown, clicked or not.

    The ads of user u are at the places ``starts[u]`` to ``starts[u + 1] - 1`` of ``shown`` and ``clicked``, each ad
    once, however often it was shown. ``identity`` changes with the files that were read and the code that read them;
    ``counts`` says what was read and what was dropped, by kind.

    Parameters
    ----------
    user_ids, ad_ids
        Ids in the files, ascending, int32, shapes (users,) and (ads,): those in a row that was kept.
    user_features, ad_features
        Categories, int32, shapes (users, 8) and (ads, 5), in the order of ``USER_FEATURES`` and ``AD_FEATURES``; values
        as in the files, except that the price is its bin, 0 to 4.
    user_hour
        Hour of the day that holds most of the user's rows of the log, displays included, 0 to 23, uint8.
    starts
        First place of each user, and the number of places, int64, shape (users + 1,).
    shown
        Row of the ad in ``ad_ids``, int32, shape (places,), ascending for each user.
    clicked
        Whether the user clicked on it at least once, bool, shape (places,).
    """

    user_ids: np.ndarray
    user_features: np.ndarray
    user_hour: np.ndarray
    ad_ids: np.ndarray
    ad_features: np.ndarray
    starts: np.ndarray
    shown: np.ndarray
    clicked: np.ndarray
    identity: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    def clicks(self) -> np.ndarray:
        sums = np.concatenate(([0], np.cumsum(self.clicked, dtype=np.int64)))
        return np.diff(sums[self.starts])
