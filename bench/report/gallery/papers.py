"""What each paper proposes, in words of ours."""

from typing import NamedTuple


class Paper(NamedTuple):
    """Title, authors, and what is proposed, in two sentences."""

    title: str
    authors: str
    proposes: str


PAPERS = {
    "syndicated": Paper(
        "Syndicated Bandits",
        "Ding, Liu, Hsieh, Sharpnack",
        "Above a contextual bandit stands a layer of adversarial bandits, one EXP3 for each hyper-parameter, and all "
        "of them are paid with the one reward that the bandit earns. The price in regret then grows with the sum of "
        "the numbers of candidates, not with their product, and no exploration rate has to be taken from theory.",
    ),
    "cdt": Paper(
        "Online Continuous Hyperparameter Optimization for Generalized Linear Contextual Bandits",
        "Kang, Hsieh, Lee",
        "Hyper-parameters of a generalised linear bandit are taken from a continuum, not from a list: CDT chooses them "
        "while the bandit runs, by Thompson sampling over balls that zoom in where rewards are high. Since the best "
        "setting may change with time, that search is restarted at a fixed pace.",
    ),
    "opl_hpo": Paper(
        "Hyperparameter Optimization Can Even be Harmful in Off-Policy Learning and How to Deal with It",
        "Saito, Nomura",
        "A search that maximises an unbiased off-policy estimate picks policies that the estimate flatters, and may "
        "end below the policy that logged the data. CIR-HPO maximises a lower confidence bound instead, and mixes each "
        "candidate with the logging policy, the more so the more often tests on the validation data speak for it.",
    ),
    "online_hpo": Paper(
        "Non-stationary Continuum-armed Bandits for Online Hyperparameter Optimization",
        "Lu, Zhou, Shi, Zhu, Yu, Chen, Da, Zhang",
        "A hyper-parameter of a running system is a point of an interval whose reward drifts, so old rewards are "
        "dropped or discounted. SD2ME tries points of a fixed grid in this way, AD2ME adds points where its confidence "
        "intervals leave a gap; both are tried on the threshold above which a shop's ads become candidates.",
    ),
    "habo": Paper(
        "HyperArm Bandit Optimization: a novel approach to hyperparameter optimization",
        "Karroum, Mazhar",
        "Each hyper-parameter is an arm that holds arms of its own, its values: in every round EXP3 chooses which "
        "hyper-parameter to change, and another EXP3 to which value. It is tried on random forests against Bayesian "
        "optimisation, after an introduction to the bandit algorithms that it is made of.",
    ),
    "tournament": Paper(
        "All tuners on all tasks",
        "no paper: an experiment of this suite",
        "Every online tuner is run on tasks from all five papers, with its default settings and the same data in each "
        "repetition. Regret is shown relative to a configuration drawn at random in each round, and methods by their "
        "mean rank.",
    ),
}
