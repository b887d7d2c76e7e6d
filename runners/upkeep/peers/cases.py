"""What is measured: which player of which library on which problem, beside which of ours."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """A library's player beside ours; ``peer`` is its name on the package index.

    ``theirs`` and ``ours`` are players of the modules of these names. ``our_problem`` is ours where the suite cannot
    play the same one: then the work is alike, the regrets are not to be compared. ``rounds`` counts decisions of a
    timed run, ``most`` limits the repetitions of a case that takes minutes.
    """

    peer: str
    does: str
    problem: str
    theirs: str
    ours: str
    rounds: int
    arguments: dict[str, int] = field(default_factory=dict)
    setting: str = ""
    our_problem: str = ""
    our_arguments: dict[str, int] = field(default_factory=dict)
    unit: str = "rounds"
    most: int = 1000
    note: str = ""


REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "coba": ("coba==8.1.0", "numpy"),
    "vowpalwabbit": ("vowpalwabbit==9.11.9", "numpy"),
    "mabwiser": ("mabwiser==2.7.4",),
    "contextualbandits": ("contextualbandits==0.3.30",),
    # Its last release imports scipy.special.btdtri, which SciPy 1.14 removed
    "SMPyBandits": ("SMPyBandits==0.9.7", "scipy<1.14", "numpy<2", "pandas<3", "scikit-learn<1.6"),
    "PyXAB": ("PyXAB==0.3.0",),
}
"""What is installed for each library; those not named are dependencies of the suite and run in its own environment."""

_SIZES = {"5 x 25": {"n_arms": 5, "dim": 25}, "120 x 25": {"n_arms": 120, "dim": 25}}
_ONE_FOR_ALL = "features for each arm, one vector of coefficients"
_ONE_EACH = "a shared context, a vector of coefficients for each arm"
_REGCB = "RegCB (optimistic), which learns by gradient steps instead of ridge regression"
_AS_BLOCKS = "the suite has no model with coefficients for each arm and plays it as one of 125 features"
_OTHER = (
    "not the same problem: the suite would have to play it as one of 3,000 features, so it plays arms with features of "
    "their own, which is the same arithmetic (120 quadratic forms of 25 features); its regret is not comparable"
)


def _each_arm(peer: str, theirs: str, large: int) -> tuple[Case, Case]:
    """Return the cases of a library whose arms share a context."""
    small, many = _SIZES.values()
    return (
        Case(
            peer, "LinUCB, 5 x 25", "shared_context", theirs, "linucb", 1000, small, _ONE_EACH, note=_AS_BLOCKS
        ),
        Case(
            peer, "LinUCB, 120 x 25", "shared_context", theirs, "linucb", large, many, _ONE_EACH, "arm_features", many,
            note=_OTHER,
        ),
    )  # fmt: skip


CASES = (
    *(
        Case("coba", f"LinUCB, {name}", "arm_features", "coba_linucb", "linucb", rounds, size, _ONE_FOR_ALL)
        for (name, size), rounds in zip(_SIZES.items(), (2000, 1000), strict=True)
    ),
    *(
        Case(
            "vowpalwabbit", f"RegCB{how}, {name}", "arm_features", player, "linucb", rounds, size, _ONE_FOR_ALL,
            note=f"{_REGCB}; {note}",
        )
        for player, how, note in (
            ("vw_regcb", "", "the time includes writing the features as text, its input format"),
            ("vw_regcb_prepared", " on prepared text", "the features were written as text beforehand"),
        )
        for (name, size), rounds in zip(_SIZES.items(), (2000, 1000), strict=True)
    ),
    *_each_arm("mabwiser", "mabwiser_linucb", 200),
    *_each_arm("contextualbandits", "contextualbandits_linucb", 300),
    *_each_arm("obp", "obp_linucb", 500),
    Case("SMPyBandits", "UCB1", "bernoulli", "smpybandits_ucb1", "ucb1", 10_000, setting="10 Bernoulli arms"),
    Case(
        "SMPyBandits", "EXP3", "bernoulli", "smpybandits_exp3", "exp3", 10_000, setting="10 Bernoulli arms",
        note="gamma = 0.05; SMPyBandits pulls every arm once before it draws",
    ),
    Case(
        "PyXAB", "Zooming", "line", "pyxab_zooming", "zooming", 5000, setting="a function on [0, 1]",
        note="each with its own default constants; PyXAB's active points are those of a binary tree",
    ),
    Case(
        "scikit-optimize", "Gaussian process", "optimise", "skopt_gp", "gp_ucb", 1,
        setting="2 hyper-parameters, after 1,000 trials", unit="asks", most=3,
        note="refits its covariance and searches the whole square at each ask; ours maximises over 1,000 fixed points "
        "and refits when the number of trials has doubled; the trials before are random ones there, its own here; "
        "the suite's gp_minimize calls scikit-optimize and takes its time",
    ),
    Case(
        "optuna", "TPE", "optimise", "optuna_tpe", "tpe", 100, setting="2 hyper-parameters, after 1,000 trials",
        unit="asks", note="ours is Optuna's sampler, told each trial once; densities and choices are Optuna's",
    ),
    *(
        Case(
            "obp", name, "log", theirs, ours, 1000, setting="10,000 rows, 10 actions", unit="estimates",
            note="the result is the mean estimate",
        )
        for name, theirs, ours in (
            ("IPS", "obp_ips", "ips"), ("self-normalised IPS", "obp_snips", "snips"), ("doubly robust", "obp_dr", "dr"),
        )
    ),
)  # fmt: skip
