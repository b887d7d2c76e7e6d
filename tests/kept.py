"""An environment whose observations a test can look at afterwards."""


class Kept:
    """An environment that keeps all observations."""

    def __init__(self, environment):
        self.observations = []
        self._observe, self._pull = environment.observe, environment.pull
        environment.observe, environment.pull = self.observe, self.pull

    def observe(self):
        self._contexts = self._observe()
        return self._contexts

    def pull(self, arm):
        reward = self._pull(arm)
        self.observations.append((self._contexts.copy(order="F"), arm, reward))
        return reward
