"""The server of docs/service.md: requests that it refuses, and restarts after kills while 50 clients ask and tell."""

import http.client
import json
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from commands import PATIENCE

import bandit_bench
from bandit_bench._served_tuner import ServedTuner
from bench.data.bandit_log import Columns, load_bandit_log
from bench.space import Space
from bench.tasks.feedback import read_history
from bench.tuners.base import Problem
from bench.tuners.gaussian_ts import GaussianTS
from bench.tuners.state import Names, Reader

PAGE = Path(__file__).resolve().parents[1] / "docs" / "service.md"


def send(port, path, body, method="POST", **headers):
    """Return the status and the text of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def post(port, path, **message):
    status, text = send(port, f"/{path}", json.dumps(message))
    assert status == 200, text
    return json.loads(text)


def told(folder, name="state.db"):
    """Return the rewards in the state and in the log of a server that has ended."""
    with closing(sqlite3.connect(folder / name)) as file:
        ((state,),) = file.execute("SELECT tuner FROM state").fetchall()
        logged = [reward for (reward,) in file.execute("SELECT reward FROM asks WHERE told IS NOT NULL ORDER BY told")]
    return Reader("", {}, Names(set()), by_name=True).read(json.loads(state)["state"]["_told"], ""), logged


def wait_for(reached, what):
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, f"found no {what} in {PATIENCE} s"
        time.sleep(0.02)


def serve(folder, port, state=None):
    server = subprocess.Popen([sys.executable, folder / "server.py", state or folder / "state.db", str(port)])

    def listens():
        assert server.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    try:
        wait_for(listens, "server")
    except BaseException:
        stop(server)
        raise
    return server


def stop(server):
    server.kill()
    server.wait()


LEDGER = """
from bench.component import component
from bench.tuners.gaussian_ts import GaussianTS


@component
class Ledger(GaussianTS):
    '''Keeps every reward that it was told, in its state.'''

    def _begin(self, n, problem, seeds):
        super()._begin(n, problem, seeds)
        self._told = []

    def _tell(self, reward, outcome):
        self._told.append(reward)
        super()._tell(reward, outcome)
"""


def answer_to(port, ticket, reward):
    """Return the status of a tell, "none" if the server was killed before it answered."""
    try:
        return str(send(port, "/tell", json.dumps({"ticket": ticket, "reward": reward}))[0])
    except (OSError, ValueError, http.client.HTTPException):
        time.sleep(0.02)
        return "none"


def client(port, over, path, number):
    """Ask and tell to the end, with different rewards; a reward without an answer is told again.

    Each line of the file is a reward and the answers to its tells.
    """
    number_told = 0
    with path.open("w", buffering=1) as lines:
        while not over.is_set():
            try:
                ticket = post(port, "ask")["ticket"]
            except (OSError, ValueError, http.client.HTTPException):  # the server was killed
                time.sleep(0.02)
                continue
            number_told += 1
            reward = number + number_told / 2**20
            answers = [answer_to(port, ticket, reward)]
            while answers[-1] == "none" and not over.is_set():
                answers.append(answer_to(port, ticket, reward))
            lines.write(f"{reward!r} {' '.join(answers)}\n")


def read(files):
    """Return the answers by reward; a line that is being written is left out."""
    whole = [line for file in files if file.exists() for line in file.read_text().splitlines(keepends=True)]
    words = [line.split() for line in whole if line.endswith("\n")]
    return {float(reward): answers for reward, *answers in words}


def acknowledged(files):
    return sum("200" in answers for answers in read(files).values())


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def prepare(folder, tuner="ledger.Ledger"):
    """Write the server of the page, with a tuner that keeps every reward, or another; return a free port."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert code.count('"gaussian_ts"') == 1
    (folder / "server.py").write_text(code.replace("gaussian_ts", tuner))
    (folder / "ledger.py").write_text(LEDGER)
    return free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The port of a server whose tuner keeps every reward."""
    folder = tmp_path_factory.mktemp("server")
    port = prepare(folder)
    process = serve(folder, port)
    yield port
    stop(process)


def chunks(body):
    """A body that http.client sends in chunks, as a proxy or a client that streams does."""
    return iter([body[:5].encode(), body[5:].encode()])


def test_a_reward_is_learnt_once_and_an_equal_repeat_is_accepted(server):
    ticket = post(server, "ask")["ticket"]
    body = json.dumps({"ticket": ticket, "reward": 0.5})
    assert send(server, "/tell", chunks(body)) == (200, '{"learnt":"now"}')
    assert send(server, "/tell", body) == (200, '{"learnt":"before"}')
    status, text = send(server, "/tell", json.dumps({"ticket": ticket, "reward": 0.75}))
    assert (status, "whose reward has not been told" in text) == (409, True)
    played = json.loads(send(server, "/played", None, "GET")[1])
    assert played["of"] >= sum(number for _, number in played["asks"]) >= 1
    assert [configuration["exploration"] for configuration, _ in played["asks"]]


WRONG = {
    "no reward": (400, {"ticket": 1}),
    "a null ticket": (409, {"ticket": None, "reward": 0.5}),
    "beyond a row of SQLite": (409, {"ticket": 2**70, "reward": 0.5}),
    "no UTF-8": (400, b"\xff"),
    "a number of many digits": (400, '{"ticket": ' + "1" * 6_000 + "}"),
    "too long": (413, " " * 20_000),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_message_is_a_sentence_and_teaches_nothing(server, case):
    """Not even the reward of the latest ask, where the ticket is null."""
    ticket = post(server, "ask")["ticket"]
    status, message = WRONG[case]
    body = message if isinstance(message, str | bytes) else json.dumps(message)
    for sent in (body, iter([body if isinstance(body, bytes) else body.encode()])):
        found, text = send(server, "/tell", sent)
        assert (found, "expected" in json.loads(text)["error"]) == (status, True)
    for reward in ("null", '"high"', "NaN", "1e999"):
        assert send(server, "/tell", f'{{"ticket": {ticket}, "reward": {reward}}}')[0] == 409
    assert answer_to(server, ticket, 0.5) == "200"


def test_other_addresses_and_methods_are_named(server):
    for method, path, status in (("POST", "/ask/", 404), ("GET", "/ask", 405), ("DELETE", "/log", 405)):
        found, text = send(server, path, None, method)
        assert (found, "expected POST /ask" in json.loads(text)["error"]) == (status, True)


ELSEWHERE = {
    "another host": {"Host": "evil.example"},
    "a host that is none": {"Host": "[::1"},
    "an origin that is none": {"Origin": "http://[::1"},
    "another origin": {"Origin": "http://evil.example", "Content_Type": "text/plain"},
    "a picture of another page": {"Sec_Fetch_Site": "cross-site"},
}


@pytest.mark.parametrize("headers", ELSEWHERE.values(), ids=ELSEWHERE)
def test_pages_of_other_sites_cannot_ask(server, headers):
    for method, path in (("POST", "/ask"), ("GET", "/log")):
        status, text = send(server, path, None, method, **headers)
        assert (status, "expected one " in text) == (421, True)
    assert send(server, "/ask", "{}", Host="localhost:1", Origin="http://localhost:3000")[0] == 200


def test_two_servers_on_one_file_refuse_and_two_in_one_folder_do_not_meet(tmp_path):
    port = prepare(tmp_path)
    first = serve(tmp_path, port, tmp_path / "shop.eu")
    try:
        assert "another server" in refused(tmp_path, "shop.eu", port)
        assert "port " in refused(tmp_path, "shop.us", port)
        other = serve(tmp_path, free_port(), tmp_path / "shop.us")
        stop(other)
        assert answer_to(port, post(port, "ask")["ticket"], 0.25) == "200"
    finally:
        stop(first)
    assert [told(tmp_path, name) for name in ("shop.eu", "shop.us")] == [([0.25], [0.25]), ([], [])]


def test_the_log_is_a_start_for_another_tuner_and_a_log_for_replay(tmp_path, monkeypatch):
    port = prepare(tmp_path, "exp3")
    process = serve(tmp_path, port)
    try:
        for number in range(60):
            answer_to(port, post(port, "ask")["ticket"], number % 2)
        post(port, "ask")  # whose reward never comes
        (tmp_path / "log.csv").write_text(send(port, "/log", None, "GET")[1])
    finally:
        stop(process)
    space = Space.of(exploration=[0.1, 0.3, 1.0])
    history = read_history(tmp_path / "log.csv", space)
    assert [reward for _, reward in history] == [0.0, 1.0] * 30
    tuner = GaussianTS()
    tuner.start(Problem(space, 100))
    tuner.learn(history)
    log = load_bandit_log(str(tmp_path / "log.csv"), Columns((), "exploration", "reward", "propensity", "told"))
    assert (len(log), log.order.tolist(), set(log.names)) == (60, [*range(60)], {"0.1", "0.3", "1.0"})
    assert log.propensities[0] == pytest.approx(1 / 3)
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    replay = ("service_log", {"path": str(tmp_path / "log.csv"), "n_parts": 2})
    compared = bandit_bench.compare(["ucb1", "exp3"], env=replay, repetitions=2)
    assert compared.finals["accepted"].min() >= 1
    assert set(compared.finals["exploration"]) <= {0.1, 0.3, 1.0}


def test_ctrl_c_ends_it_without_a_traceback(tmp_path, capfd):
    port = prepare(tmp_path)
    server = serve(tmp_path, port)
    try:
        ticket = post(port, "ask")["ticket"]
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 0
        assert capfd.readouterr().err == ""
        server = serve(tmp_path, port)
        assert answer_to(port, ticket, 0.5) == "200"
    finally:
        stop(server)


def refused(folder, state, port):
    """Return the sentence with which a server that cannot start ends."""
    command = [sys.executable, "server.py", str(state), str(port)]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stderr.count("\n"), ended.stdout) == (1, 1, "")
    return ended.stderr


def test_an_invalid_port_is_one_sentence_at_the_start(tmp_path):
    prepare(tmp_path)
    for port in ("http", "99999999"):
        assert re.match(rf"port {port}: .*0 to 65535", refused(tmp_path, "state.db", port))


def test_a_state_of_another_tuner_or_a_damaged_one_is_a_sentence_at_the_start(tmp_path):
    port = prepare(tmp_path)
    stop(serve(tmp_path, port))
    for change in ("REPLACE(tuner, 'Ledger', 'Other')", "SUBSTR(tuner, 1, 99)"):
        with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as file:
            file.execute(f"UPDATE state SET tuner = {change}")
        assert "expected a state" in refused(tmp_path, "state.db", port)


@pytest.mark.parametrize(
    "change",
    [
        b'{"version": 4}',
        b"SQLite format 3\0" + b"x" * 5000,
        "CREATE TRIGGER t AFTER INSERT ON asks BEGIN DELETE FROM asks; END",
        "ALTER TABLE state RENAME TO s; CREATE VIEW state AS SELECT * FROM s",
        "ALTER TABLE asks RENAME COLUMN ticket TO number",
        "DROP TABLE asks",
    ],
)
def test_a_file_of_another_kind_is_a_sentence_at_the_start_and_stays_unchanged(tmp_path, change):
    path, tuner = tmp_path / "state.db", GaussianTS()
    tuner.start(Problem(Space.of(x=[0.1, 1.0]), horizon=10))
    ServedTuner(tuner, path).close()
    if isinstance(change, bytes):
        path.write_bytes(change)
    else:
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.executescript(change)
    before = path.read_bytes()
    with pytest.raises(bandit_bench.BenchError, match=r"^[^\n]*state\.db: [^\n]*[,;] expected a file"):
        ServedTuner(tuner, path)
    assert path.read_bytes() == before


def test_a_file_with_destroyed_pages_and_one_in_memory_are_sentences_at_the_start(tmp_path):
    path, tuner = tmp_path / "state.db", GaussianTS()
    tuner.start(Problem(Space.of(x=[0.1, 1.0]), horizon=10))
    served = ServedTuner(tuner, path)
    served.together([ServedTuner.ask] * 500)
    served.close()
    size = path.stat().st_size
    for kept in (size // 4, size // 2, size - 4096):
        path.write_bytes(path.read_bytes()[:kept] + b"x" * (size - kept))
        with pytest.raises(bandit_bench.BenchError, match=r"^[^\n]*state\.db: [^\n]*malformed; expected a file"):
            ServedTuner(tuner, path)
    with pytest.raises(bandit_bench.BenchError, match=r"^:memory:: [^\n]*; expected a file"):
        ServedTuner(tuner, ":memory:")


@pytest.mark.parametrize("is_replaced", [False, True])
def test_nothing_is_answered_once_the_file_is_removed(tmp_path, is_replaced):
    tuner = GaussianTS()
    tuner.start(Problem(Space.of(x=[0.1, 1.0]), horizon=10))
    served = ServedTuner(tuner, tmp_path / "state.db")
    assert len(served.together([ServedTuner.ask])) == 1
    (tmp_path / "state.db").rename(tmp_path / "other.db")
    if is_replaced:
        (tmp_path / "state.db").touch()
    with pytest.raises(OSError, match="file"):
        served.together([ServedTuner.ask])


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")  # of a client
@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.release)])
def test_killed_and_started_again_it_learns_acknowledged_rewards_once(tmp_path, kills):
    port = prepare(tmp_path)
    over = threading.Event()
    files = [tmp_path / f"client_{number}.txt" for number in range(50)]
    clients = [
        threading.Thread(target=client, args=(port, over, file, number), daemon=True)
        for number, file in enumerate(files)
    ]
    moments = random.Random(3)
    server = serve(tmp_path, port)
    try:
        for thread in clients:
            thread.start()
        for _ in range(kills):
            enough = acknowledged(files) + 50
            wait_for(lambda least=enough: acknowledged(files) >= least, "fifty acknowledged rewards")
            time.sleep(moments.uniform(0, 0.1))
            stop(server)
            server = serve(tmp_path, port)
        enough = acknowledged(files) + 50
        wait_for(lambda: acknowledged(files) >= enough, "acknowledged rewards after the last kill")
        over.set()
        for thread in clients:
            thread.join(PATIENCE)
            assert not thread.is_alive()
    finally:
        over.set()
        stop(server)
    learnt, logged = told(tmp_path)
    answers_by_reward = read(files)
    assert sorted(learnt) == sorted(logged)
    assert max(Counter(learnt).values()) == 1
    assert set(learnt) <= set(answers_by_reward)
    for reward, answers in answers_by_reward.items():
        assert {*answers[:-1]} <= {"none"}
        assert answers[-1] in ("200", "none")  # tickets outlive kills, and the same again is no error
        assert reward in learnt or answers[-1] == "none"
