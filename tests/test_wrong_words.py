"""Wrong arguments: one sentence with the value found and the value expected, and nothing is written."""

import pytest
from commands import MAINS, assert_one_sentence

from bench.envs.synthetic_linear import SyntheticLinear
from bench.errors import ConfigError
from runners.command import plain_command
from runners.config.classes import construct
from runners.config.compose import from_overrides
from runners.run import run_and_report

Sentences = dict[str, tuple[str, ...]]
RUN: Sentences = {
    "env=foo": ("env/foo", "synthetic_linear"),
    "env=movielens env.foo=3": ("env: ", "'foo'", "n_users"),
    "env.dim=abc": ("env.dim: found 'abc'",),
    "horizon=20,30": ("horizon=20,30", "--multirun"),
    "env=log env.context=hour,age": ("env.context=hour,age", "[value1,value2]"),
    "env=braces": ("conf/env/braces.yaml:3: ",),
    "runner.backend=foo jobs=2": ("runner.backend: found 'foo'", "loky"),
}
PARTS: Sentences = {
    "tuner=custom tuner._target_=nope.X": ("tuner._target_: found 'nope.X'", "run from the folder of nope"),
    "env._target_=bench.tuners.tl.TL": ("env._target_: found 'bench.tuners.tl.TL'", "bandit_bench.Environment"),
    "tuner=custom tuner._target_=broken.X": ("tuner._target_: found 'broken.X'", "ImportError: first line"),
    "tuner=my_module.Checked +tuner.other=3": ("tuner: ", "'other'", "my_setting"),
    "env=switching_sine algorithm=linucb": ("SwitchingSine with LinUCB",),
    "algorithm=none": ("SyntheticLinear without an algorithm", "=linucb"),
    "algorithm.tune=[foo]": ("algorithm.tune: found", "'foo'", "exploration_rate", "ridge"),
    "algorithm.space.ridge.low=2": ("algorithm.space.ridge", "low < high"),
    "algorithm.space.ridge.candidates=[-1,1]": ("algorithm.space.ridge: found -1", "at least 0"),
    "tuner=fixed tuner.configuration.exploration_rate=-1": ("tuner.configuration.exploration_rate: found -1",),
    "+task.probe.exploration_rate=[-1]": ("task.probe.exploration_rate: found -1",),
}
REPETITIONS: Sentences = {
    "repetitions=foo": ("repetitions: found 'foo'", "until_decided"),
    "max_repetitions=100 repetitions=20": ("max_repetitions=100", "repetitions=until_decided"),
}
COMPARE: Sentences = {
    "tuner=tl,foo": ("tuner: found 'foo'", "cdt"),
    "tuner=tl,cdt(radius=1)": ("tuner: ", "'radius'", "radius_scale"),
    "tuner=cdt": ("tuner: found only 'CDT'",),
    "tuner=A=tl,A=cdt": ("tuner: found the label 'A' twice",),
    "env.path=log(1).csv": ("\"env.path='log(1).csv'\"",),
    "env.context=[age,P(x)]": ("env.context=[age,P(x)]", "in quotes"),
    "tuner=tl,random column=foo": ("column: found 'foo'", "regret"),
    "tuner=tl,random column=seconds_foo": (
        "column: found 'seconds_foo', expected one of: exploration_rate, reward, regret, random_regret",
    ),
    "tuner=tl,random column=seconds_total": ("key 'column': found 'seconds_total'", "dots"),
    "name=../elsewhere": ("name: found '../elsewhere'",),
}
REPRODUCE: Sentences = {
    "figure=foo": ("figure/foo", "syndicated/figure2"),
    "env.dim=3": ("'env.dim'", "horizon"),
    "only=panel": ("only: found 'panel'", "only={panel: "),
    # files of a user's own
    "figure=bad/tuner": ("bad/figures/tuner.yaml: tuner: found 'cdtt'", "'cdt'"),
    "figure=bad/key": ("conf/papers/bad/figures/key.yaml: ", "'colum'"),
    "figure=bad/syntax": ("conf/papers/bad/figures/syntax.yaml:2: ",),
    "figure=bad/column": ("bad/figures/column.yaml: ", "key 'column': found 'regrett'", "'regret'"),
    "figure=bad/claim": ("bad/figures/claim.yaml: ", "claim 'growth', key 'column': found 'rewards'", "'reward'"),
    "figure=bad/seconds": ("bad/figures/seconds.yaml: ", "key 'column': found 'seconds_foo'", "seconds_total"),
}
BOUND = "claims: [{text: a, kind: bound, measured: {method: A}, formula: {name: exp3, n_arms: 5}, "
FIGURES = {
    "tuner": ("column: regret", "cdtt"),
    "key": ("colum: x", "cdt"),
    "syntax": ("a: [", ""),
    "column": ("column: regrett", "random"),
    "claim": (f"column: regret\n{BOUND}id: growth, column: rewards}}]", "random"),
    "seconds": ("kind: dots\ncolumn: seconds_foo", "random"),
}
WRONG = {"run": RUN, "parts": PARTS, "compare": COMPARE | REPETITIONS, "reproduce": REPRODUCE | REPETITIONS}
# The rest is small, so that what should have been refused is over soon
REST = {
    "run": {"repetitions": "1", "horizon": "20"},
    "parts": {"repetitions": "1", "horizon": "20"},
    "compare": {"tuner": "tl,cdt"},
    "reproduce": {"figure": "syndicated/figure3", "scale": "smoke"},
}


def run_words(words: list[str]) -> None:
    """Run `runners.run` with choices composed once for all tests, because Hydra does not know the parts."""
    run_and_report(from_overrides(words), words)


@pytest.mark.parametrize(("command", "line"), [(command, line) for command, lines in WRONG.items() for line in lines])
def test_wrong_words_are_one_sentence(commands, monkeypatch, capsys, command, line):
    monkeypatch.setitem(MAINS, "parts", lambda: plain_command("", run_words))
    (commands.cwd / "broken.py").write_text('raise ImportError("first line\\nsecond line")\n')
    if "braces" in line:
        (commands.cwd / "conf" / "env").mkdir(parents=True)
        content = "_target_: bench.envs.synthetic_linear.SyntheticLinear\n# a list\ndim: {1, 2}\n"
        (commands.cwd / "conf" / "env" / "braces.yaml").write_text(content)
    if "bad/" in line:
        folder = commands.cwd / "conf" / "papers" / "bad" / "figures"
        folder.mkdir(parents=True)
        folder.with_name("settings.yaml").write_text("name: bad\n")
        for name, (column, tuner) in FIGURES.items():
            kind = "" if column.startswith("kind") else "kind: curves\n"
            text = f"{kind}{column}\nruns: [{{method: {{A: [tuner={tuner}]}}}}]\n"
            (folder / f"{name}.yaml").write_text(text)
    rest = [f"{key}={value}" for key, value in REST[command].items() if key not in line and "paper=" not in line]
    answer = commands.here(monkeypatch, capsys, command, *line.split(" "), *rest)
    assert_one_sentence(answer, *WRONG[command][line])


class Own:
    """A user's class without declared settings, which keeps a setting in another form."""

    def __init__(self, is_wide=True):
        self.is_wide = 2.0 if is_wide else 1.0


def test_true_is_no_number_for_the_suites_classes_but_may_be_for_a_users():
    with pytest.raises(ConfigError, match=r"^env\.noise_std: found True, expected a number$"):
        construct("env", SyntheticLinear, {"noise_std": True})
    assert construct("env", Own, {"is_wide": True}).is_wide == 2.0
