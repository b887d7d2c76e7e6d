"""The server of docs/service.md: killed while it is asked, it learns nothing twice and loses nothing acknowledged."""

import http.client
import json
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
from commands import PATIENCE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "service.md"


def post(port, path, **message):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", json.dumps(message).encode())
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def wait_for(reached, what):
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, f"found no {what} in {PATIENCE} s"
        time.sleep(0.02)


def serve(folder, port, state=None):
    server = subprocess.Popen([sys.executable, folder / "server.py", state or folder / "state.json", str(port)])

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
        post(port, "tell", ticket=ticket, reward=reward)
    except urllib.error.HTTPError as error:
        return str(error.code)
    except (OSError, ValueError, http.client.HTTPException):
        time.sleep(0.02)
        return "none"
    return "200"


def client(port, over, path, number):
    """Ask and tell until it is over, each reward another; what got no answer is told again.

    Each line of the file is a reward and the answers to its tells.
    """
    told = 0
    with path.open("w", buffering=1) as lines:
        while not over.is_set():
            try:
                ticket = post(port, "ask")["ticket"]
            except (OSError, ValueError, http.client.HTTPException):  # the server was killed
                time.sleep(0.02)
                continue
            told += 1
            reward = number + told / 2**20
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


def prepare(folder):
    """Write the server of the page, with a tuner that keeps every reward; return a free port."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    imported = "from bench.tuners.gaussian_ts import GaussianTS"
    assert code.count(imported) == 1
    (folder / "server.py").write_text(code.replace(imported, "from ledger import Ledger as GaussianTS"))
    (folder / "ledger.py").write_text(LEDGER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def refusal(status, call, *arguments, **message):
    with pytest.raises(urllib.error.HTTPError) as refused:
        call(*arguments, **message)
    assert refused.value.code == status
    return json.loads(refused.value.read())["error"]


def test_a_wrong_message_is_a_sentence_and_teaches_nothing(tmp_path):
    """Not even the reward of the latest ask, where the ticket is null."""
    port = prepare(tmp_path)
    server = serve(tmp_path, port)
    try:
        ticket = post(port, "ask")["ticket"]
        good = {"ticket": ticket, "reward": 0.5}
        wrong = ({"ticket": None}, {"ticket": ticket + 1}, {"ticket": "a"}, {"reward": None}, {"reward": "high"})
        for message in ({"ticket": ticket}, {"reward": 0.5}, good | {"more": 1}, *(good | one for one in wrong)):
            assert "expected" in refusal(409, post, port, "tell", **message), message
        assert "expected POST /ask" in refusal(404, post, port, "other")
        assert "expected POST /ask" in refusal(404, urllib.request.urlopen, f"http://127.0.0.1:{port}/ask")
        for body in (b"[1]", b"ticket=1", b"\xff"):
            said = refusal(409, urllib.request.urlopen, f"http://127.0.0.1:{port}/tell", body)
            assert "an object with the keys ['reward', 'ticket']" in said, body
        assert json.loads((tmp_path / "state.json").read_text())["state"]["_told"] == []
        assert post(port, "tell", **good) == {}
        assert json.loads((tmp_path / "state.json").read_text())["state"]["_told"] == [0.5]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/played", timeout=PATIENCE) as answer:
            assert json.loads(answer.read()) == {"of": 1, "asks": [['{"exploration": 0.1}', 1]]}
    finally:
        stop(server)


def test_ctrl_c_ends_it_without_a_traceback(tmp_path, capfd):
    port = prepare(tmp_path)
    server = serve(tmp_path, port)
    try:
        ticket = post(port, "ask")["ticket"]
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == -signal.SIGINT
        assert capfd.readouterr().err == ""
        server = serve(tmp_path, port)
        assert answer_to(port, ticket, 0.5) == "200"
    finally:
        stop(server)


def test_where_the_state_cannot_be_written_it_ends_without_an_answer(tmp_path):
    """Else a repeated tell is refused as learnt before, though it is not on the disk."""
    port = prepare(tmp_path)
    state = tmp_path / "states" / "state.json"
    state.parent.mkdir()
    server = serve(tmp_path, port, state)
    try:
        ticket = post(port, "ask")["ticket"]
        state.parent.rename(tmp_path / "gone")
        assert answer_to(port, ticket, 0.5) == "none"
        assert server.wait(PATIENCE) == 1
    finally:
        stop(server)
    (tmp_path / "gone").rename(state.parent)
    server = serve(tmp_path, port, state)
    try:
        assert answer_to(port, ticket, 0.5) == "200"
    finally:
        stop(server)


@pytest.mark.parametrize("content", ["{", "[]", '{"version": 4}'])
def test_a_broken_state_is_a_sentence_at_the_start(tmp_path, content):
    port = prepare(tmp_path)
    (tmp_path / "state.json").write_text(content)
    command = [sys.executable, tmp_path / "server.py", tmp_path / "state.json", str(port)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith(f"{tmp_path / 'state.json'}: ")
    assert "expected a state that this server has written" in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "found [], expected a file for the state and a port"),
        (("state.json", "here"), "found ['state.json', 'here'], expected a file for the state and a port"),
        (("state.json", "{taken}"), "port {taken}: "),
        (("none/state.json", "0"), "error: none/state.new could not be written (No such file or directory)"),
    ],
)
def test_where_it_cannot_start_it_says_so_in_a_sentence(tmp_path, words, said):
    prepare(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        command = [sys.executable, "server.py", *(word.format(taken=taken) for word in words)]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stderr.count("\n"), ended.stdout) == (1, 1, "")
    assert ended.stderr.startswith(said.format(taken=taken))


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")  # of a client
@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.release)])
def test_killed_and_started_again_it_learns_what_it_acknowledged_once(tmp_path, kills):
    port = prepare(tmp_path)
    over = threading.Event()
    files = [tmp_path / f"client_{number}.txt" for number in range(4)]
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
            enough = acknowledged(files) + 10
            wait_for(lambda least=enough: acknowledged(files) >= least, "ten acknowledged rewards")
            time.sleep(moments.uniform(0, 0.1))
            stop(server)
            server = serve(tmp_path, port)
        enough = acknowledged(files) + 10
        wait_for(lambda: acknowledged(files) >= enough, "acknowledged rewards after the last kill")
        over.set()
        for thread in clients:
            thread.join(PATIENCE)
            assert not thread.is_alive()
    finally:
        over.set()
        stop(server)
    learnt = json.loads((tmp_path / "state.json").read_text())["state"]["_told"]
    told = read(files)
    accounts = Counter(
        (" then ".join(dict.fromkeys(answers)), learnt.count(reward)) for reward, answers in told.items()
    )
    for (answers, times), number in sorted(accounts.items()):
        print(f"{kills} kills: {number} rewards answered {answers} are {times} times in the state")
    # 409 only where the reward was learnt before the kill, and its answer lost: tickets outlive kills
    assert {answers[-1] for answers in told.values()} <= {"200", "409", "none"}
    assert all(set(answers[:-1]) <= {"none"} for answers in told.values())
    assert all("none" in answers for answers in told.values() if answers[-1] == "409")
    assert set(learnt) <= set(told)
    assert max(Counter(learnt).values()) == 1
    assert all(reward in learnt for reward, answers in told.items() if answers[-1] != "none")
