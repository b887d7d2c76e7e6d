from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bench.arithmetic import product, sigmoid
from bench.jit import Array, kernel

_MASK_BITS = 62
"""Number of actions per signed 64-bit mask."""


@dataclass(frozen=True, eq=False)
class LogisticRewards:
    """A logistic regression sigmoid(x'w_a + c_a) on the context joined with the action's features.

    ``weights`` has w_a in column a and shape (d, n_actions), or shape (d,) if all actions share the weights.
    ``offsets``, shape (n_actions,), are c_a, the sum of the action features' part and the intercept.
    """

    weights: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(
        cls, coefficients: np.ndarray, intercept: float, action_features: np.ndarray, products: bool = False
    ) -> "LogisticRewards":
        """Convert the coefficients of a logistic regression on a context's features and then those of an action.

        With ``products``, the coefficients of the products of context and action features follow.
        """
        action_dim = action_features.shape[1]
        dim = (coefficients.size - action_dim) // (action_dim + 1) if products else coefficients.size - action_dim
        weights, of_action = coefficients[:dim], coefficients[dim : dim + action_dim]
        if products:
            of_products = coefficients[dim + action_dim :].reshape(dim, action_dim)
            weights = weights[:, None] + product(of_products, action_features.T)
        return cls(weights, product(action_features, of_action[:, None])[:, 0] + intercept)

    def predict(self, contexts: np.ndarray) -> np.ndarray:
        """Return mu(x, a) of every action, shape (m, n_actions), for contexts of shape (m, d)."""
        weights = self.weights if self.weights.ndim == 2 else self.weights[:, None]
        return sigmoid(product(contexts, weights) + self.offsets)


@dataclass(frozen=True, eq=False)
class ForestRewards:
    """A random forest on the context joined with the action's features, which predicts the mean share of reward 1.

    The mean is over the leaves that the trees reach. All actions of a context descend a tree together and separate only
    at splits on action features, where a bit mask holds the actions that turn left. The numbers equal scikit-learn's,
    which descends once per action.

    ``nodes`` are the trees' roots and, for each node, the ``feature`` of its split (context features first, -1 for a
    leaf), the ``threshold`` up to which ``left`` follows, and above which ``right`` follows, and the ``share`` of
    reward 1. Bit a of row c of ``masks``, shape (chunks, nodes), states whether action 62 c + a turns left.
    """

    nodes: tuple[np.ndarray, ...]
    masks: np.ndarray
    n_actions: int

    @classmethod
    def of(cls, classifier: Any, action_features: np.ndarray) -> "ForestRewards":
        """Convert a fitted ``sklearn.ensemble.RandomForestClassifier`` of rewards 0 and 1."""
        trees = [estimator.tree_ for estimator in classifier.estimators_]
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        feature = np.concatenate([tree.feature for tree in trees])
        is_leaf = np.concatenate([tree.children_left for tree in trees]) < 0
        threshold = np.concatenate([tree.threshold for tree in trees])
        children = [
            np.concatenate([getattr(tree, side) + start for tree, start in zip(trees, starts, strict=False)])
            for side in ("children_left", "children_right")
        ]
        n_actions, action_dim = action_features.shape
        dim = classifier.n_features_in_ - action_dim
        of_action = np.flatnonzero(~is_leaf & (feature >= dim))
        turns_left = action_features.astype(np.float32)[:, feature[of_action] - dim] <= threshold[of_action]
        masks = np.zeros((-(-n_actions // _MASK_BITS), feature.size), dtype=np.int64)
        for action in range(n_actions):
            chunk, bit = divmod(action, _MASK_BITS)
            masks[chunk, of_action] |= turns_left[action].astype(np.int64) << bit
        left, right = (child.astype(np.int32) for child in children)
        split = np.where(is_leaf, -1, feature).astype(np.int32)
        share = np.concatenate([tree.value[:, 0, 1] for tree in trees])
        return cls((starts[:-1].astype(np.int32), split, threshold, left, right, share), masks, n_actions)

    def predict(self, contexts: np.ndarray) -> np.ndarray:
        """Return mu(x, a) of every action, shape (m, n_actions), for contexts of shape (m, d)."""
        rewards = np.zeros((len(contexts), self.n_actions))
        single = np.ascontiguousarray(contexts, dtype=np.float32)  # scikit-learn's forests use float32 features
        for chunk, masks in enumerate(self.masks):
            first = chunk * _MASK_BITS
            last = min(first + _MASK_BITS, self.n_actions)
            _go_down(single, masks, rewards[:, first:last], *self.nodes)
        rewards /= len(self.nodes[0])
        return rewards


RewardModel: TypeAlias = LogisticRewards | ForestRewards


@kernel
def _go_down(
    contexts: Array,
    masks: Array,
    rewards: Array,
    roots: Array,
    feature: Array,
    threshold: Array,
    left: Array,
    right: Array,
    share: Array,
) -> None:
    """Add each tree's share to ``rewards``, shape (m, up to 62 actions), tree by tree."""
    dim = contexts.shape[1]
    everyone = (np.int64(1) << np.int64(rewards.shape[1])) - np.int64(1)
    waiting = np.empty(rewards.shape[1], dtype=np.int64)
    waiting_actions = np.empty(rewards.shape[1], dtype=np.int64)
    for i in range(contexts.shape[0]):
        for root in roots:
            waiting[0] = root
            waiting_actions[0] = everyone
            n_waiting = 1
            while n_waiting:
                n_waiting -= 1
                node = waiting[n_waiting]
                actions = waiting_actions[n_waiting]
                while feature[node] >= 0:
                    split = feature[node]
                    if split < dim:
                        node = left[node] if contexts[i, split] <= threshold[node] else right[node]
                        continue
                    turning = actions & masks[node]
                    if turning == 0:
                        node = right[node]
                    else:
                        if turning != actions:
                            waiting[n_waiting] = right[node]
                            waiting_actions[n_waiting] = actions & ~turning
                            n_waiting += 1
                            actions = turning
                        node = left[node]
                action = 0
                while actions:
                    if actions & 1:
                        rewards[i, action] += share[node]
                    actions >>= 1
                    action += 1
