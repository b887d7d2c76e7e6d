"""The Open Bandit Dataset, with the logs of a uniform and of a Thompson-sampling policy in three campaigns."""

import hashlib
import importlib.util
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

import bench.data.log
import bench.data.open_bandit_log
from bench.data.cache import Cache
from bench.data.catalogue import OPEN_BANDIT
from bench.data.files import data_roots, stamp_of
from bench.data.open_bandit_log import OpenBanditLog, read_items, read_logs
from bench.data_kind import DataKind
from bench.errors import DataError

CampaignName = Literal["men", "women", "all"]
Policy = Literal["bts", "random"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

_LARGE = 200_000_000  # bytes


@dataclass(frozen=True, eq=False)
class Campaign:
    """The logs of the Thompson-sampling and of the uniform policy with common codes, and the items shown.

    ``item_scores``, shape (n_items,), is the items' numerical feature, standardised by the publisher;
    ``item_categories`` has the codes, from 0, of their three categorical features, int64, shape (n_items, 3).
    ``fingerprint`` is the sha256 of all data, after ``packaged-`` for the sample in the package obp.
    """

    bts: OpenBanditLog
    random: OpenBanditLog
    item_scores: np.ndarray
    item_categories: np.ndarray
    fingerprint: str

    @property
    def n_items(self) -> int:
        return len(self.item_scores)


def load_campaign(name: CampaignName) -> Campaign:
    """Return a campaign from the full data set if it is available, or else from obp's packaged sample.

    The full data set is the folder ``open_bandit_dataset`` of the published zip file, in the data set's folder below
    ``BENCH_DATA_DIR`` or the cache. The sample, 10,000 rows of each log, is real data and always available. The parsed
    campaign is cached under a hash of the files' paths, sizes and modification times and of the parser's source. Raises
    DataError if some of the files are missing, or a file is damaged; the sample does not replace such files.
    """
    paths, packaged = _files(name)
    return _cache.get(
        *(stamp_of(path) for path in paths),
        compute=lambda: _parse(paths),
        build=lambda arrays: _campaign(arrays, packaged),
    )


_cache: Cache[Campaign] = Cache(
    "logs",
    "open_bandit-",
    sys.modules[__name__],
    bench.data.open_bandit_log,
    bench.data.log,
)


def _files(name: CampaignName) -> tuple[list[Path], bool]:
    """Return the files of the log and the items of each policy, and whether they belong to the packaged sample."""
    for root in data_roots():
        paths = _below(root / OPEN_BANDIT.folder / OPEN_BANDIT.file.partition("/")[0], name)
        here = [path.is_file() for path in paths]
        if all(here):
            return paths, False
        if any(here):
            missing, present = paths[here.index(False)], paths[here.index(True)]
            raise DataError(f"{missing}: found no such file beside {present}, expected all four of the campaign")
    specification = importlib.util.find_spec("obp")  # its import would take 400 MB
    if specification is None or not specification.submodule_search_locations:
        raise DataError(
            f"found neither the {OPEN_BANDIT.title} nor the package obp, expected one of them: "
            "pip install 'bandit-tuning-bench[obp]'"
        )
    return _below(Path(specification.submodule_search_locations[0]) / "dataset" / "obd", name), True


def _below(folder: Path, name: CampaignName) -> list[Path]:
    return [folder / policy / name / file for policy in POLICIES for file in (f"{name}.csv", "item_context.csv")]


def _parse(paths: list[Path]) -> dict[str, np.ndarray]:
    size = sum(path.stat().st_size for path in paths)
    if size > _LARGE:
        warnings.warn(f"{paths[0].parent}: {size / 1e9:.1f} GB are parsed, once; this takes minutes", stacklevel=5)
    bts, bts_items, random, random_items = paths
    (scores, categories), (bts_scores, bts_categories) = read_items(random_items), read_items(bts_items)
    if not np.array_equal(scores, bts_scores) or not np.array_equal(categories, bts_categories):
        raise DataError(f"{bts_items}: found other items than in {random_items}, expected the same")
    arrays = {"item_scores": scores, "item_categories": categories}
    for policy, log in zip(POLICIES, read_logs(bts, random, len(scores)), strict=True):
        arrays |= {f"{policy}/{name}": array for name, array in log.arrays().items()}
    return arrays


def _campaign(arrays: dict[str, np.ndarray], packaged: bool) -> Campaign:
    logs = {
        policy: OpenBanditLog.of(
            {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{policy}/")}
        )
        for policy in POLICIES
    }
    scores, categories = arrays["item_scores"], arrays["item_categories"]
    digest = hashlib.sha256("".join(log.fingerprint() for log in logs.values()).encode())
    digest.update(scores.astype("<f8").tobytes() + categories.astype("<i8").tobytes())
    for array in (scores, categories):
        array.flags.writeable = False
    kind = DataKind.PACKAGED if packaged else DataKind.REAL
    return Campaign(logs["bts"], logs["random"], scores, categories, kind.marked(digest.hexdigest()))
