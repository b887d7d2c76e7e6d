"""Open tickets of a served tuner: apart from its state, and there again after a restart."""

import json
import shutil
import sqlite3
from contextlib import closing
from functools import partial

import numpy as np
import pytest

import bandit_bench as bb
from bandit_bench._served_tuner import ServedTuner

SPACE = bb.Space.of(x=[0.1, 0.3, 1.0], kind=["a", "b"])


def served(name, path, space=SPACE, horizon=1_000, **settings):
    tuner = bb.tuner(name, **settings)
    tuner.start(bb.Problem(space if tuner.multiple else space.restrict(["x"]), horizon), bb.Seeds(7))
    return ServedTuner(tuner, path)


def ask(service, n):
    return [answer["ticket"] for answer in service.together([ServedTuner.ask] * n)]


def tell(service, tickets):
    """Tell each ticket a reward; return whether each was learnt."""
    calls = [partial(ServedTuner.tell, ticket=ticket, reward=0.1 * (place % 7)) for place, ticket in enumerate(tickets)]
    return [answer == {"learnt": "now"} for answer in service.together(calls)]


def size_of_state(service):
    ((size,),) = service._file.execute("SELECT LENGTH(tuner) FROM state")
    return size


@pytest.mark.parametrize("name", ["gaussian_ts", "exp3", "tl", "changepoint_gp", "tsallis_inf"])
def test_the_state_does_not_grow_with_open_tickets(tmp_path, name):
    with closing(served(name, tmp_path / "state.db")) as service:
        tell(service, ask(service, 20))
        before = size_of_state(service)
        ask(service, 300)
        assert size_of_state(service) < before + 500


NAMES = ["gaussian_ts", "exp3", "tl", "tsallis_inf", "hyperband", "changepoint_gp", "floor"]


@pytest.mark.parametrize("name", NAMES)
def test_killed_and_started_again_it_learns_late_rewards_as_if_it_had_not_been(tmp_path, name):
    """A copy of the files, which nobody has closed, is all that a killed server leaves."""
    rng, states = np.random.default_rng(1), []
    order = rng.permutation(40).tolist()
    for kills in (False, True):
        folder = tmp_path / f"0{kills}"
        folder.mkdir()
        service = served(name, folder / "state.db")
        tickets = ask(service, 40)
        for place in range(0, 40, 10):
            assert tell(service, [tickets[i] for i in order[place : place + 10]]) == [True] * 10
            ask(service, 3)
            if kills:
                copied = shutil.copytree(folder, tmp_path / f"1{place}")
                service.close()
                folder, service = copied, served(name, copied / "state.db")
        with closing(service):
            assert not any(tell(service, [tickets[0], 1]))
            states.append(service._tuner.save()["state"])
    tickets_of = {"_asked", "_ticket", "_waiting", "_inner_state"}  # drawn afresh at a start
    ours, expected = ({key: of for key, of in state.items() if key not in tickets_of} for state in states)
    assert ours == expected


def test_the_oldest_ticket_is_forgotten_beyond_ten_thousand_and_after_a_restart(tmp_path):
    with closing(served("random", tmp_path / "state.db")) as service:
        first, second, *_ = ask(service, 2)
    with closing(served("random", tmp_path / "state.db")) as service:
        ask(service, 9_999)
        assert tell(service, [first]) == [False]
    with closing(served("random", tmp_path / "state.db")) as service:
        assert tell(service, [first, second]) == [False, True]
        assert service._file.execute("SELECT COUNT(*) FROM open").fetchone() == (9_999,)


def test_in_another_space_too_the_oldest_ticket_is_forgotten(tmp_path):
    with closing(served("ucb1", tmp_path / "state.db")) as service:
        first, second, *_ = ask(service, 3)
    with closing(served("ucb1", tmp_path / "state.db", SPACE.without(x=1.0))) as service:
        latest = ask(service, 9_998)[-1]
        assert tell(service, [first, second, latest]) == [False, True, True]


@pytest.mark.parametrize("other", [{"horizon": 500}, {"prior": 3.0}])
def test_another_horizon_or_setting_is_refused_in_another_space_too(tmp_path, other):
    served("gaussian_ts", tmp_path / "state.db").close()
    (key,) = other
    for space in (SPACE, SPACE.without(x=1.0)):
        with pytest.raises(bb.BenchError, match=rf"state\.db: .*{key}: found .*, expected {other[key]}"):
            served("gaussian_ts", tmp_path / "state.db", space, **other)


def test_a_space_of_a_billion_configurations_is_not_listed_for_a_tuner_without_probabilities(tmp_path):
    space = bb.Space.of(**{f"x{i}": list(range(10)) for i in range(9)})
    with closing(served("random", tmp_path / "state.db", space)) as service:
        assert len(ask(service, 3)) == 3


def test_a_reward_beyond_the_whole_numbers_of_floats_is_accepted_again(tmp_path):
    """2^53 + 1 is no float."""
    with closing(served("ucb1", tmp_path / "state.db")) as service:
        (ticket,) = ask(service, 1)
        calls = [partial(ServedTuner.tell, ticket=ticket, reward=2**53 + 1)] * 2
        assert service.together(calls) == [{"learnt": "now"}, {"learnt": "before"}]


def test_a_file_whose_state_has_the_open_tickets_is_continued(tmp_path):
    """As the server wrote it before it had a table for them."""
    with closing(served("exp3", tmp_path / "state.db")) as service:
        tickets = ask(service, 5)
        state = json.dumps(service._tuner.save())
    with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as file:
        file.execute("UPDATE state SET tuner = ?", (state,))
        file.execute("DROP TABLE open")
    for ticket in tickets:
        with closing(served("exp3", tmp_path / "state.db")) as service:
            assert tell(service, [ticket]) == [True]


@pytest.mark.parametrize("memory", ["{", '"x"', '{"dict": []}', '{"dict": [["_chosen", {"object": "os:system"}]]}'])
def test_a_damaged_ticket_is_a_sentence_at_the_start(tmp_path, memory):
    with closing(served("gaussian_ts", tmp_path / "state.db")) as service:
        ask(service, 2)
    with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as file:
        file.execute("UPDATE open SET memory = ?", (memory,))
    with pytest.raises(bb.BenchError, match=r"state\.db: [^\n]* expected a state that this server has written"):
        served("gaussian_ts", tmp_path / "state.db")
