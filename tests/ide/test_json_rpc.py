from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.ide.json_rpc import Answer, Connection, ServerError

# A server of a few lines: what it does is the code that a test gives.
SERVER = """\
import json, os, sys, time

def read():
    length = 0
    while (line := sys.stdin.buffer.readline().strip()):
        name, _, value = line.partition(b":")
        if name == b"Content-Length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length))

def send(**message):
    body = json.dumps(dict(message, jsonrpc="2.0")).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()

"""


def start(
    tmp_path: Path, code: str, *, timeout: float = 20.0, answers: Mapping[str, Answer] | None = None
) -> Connection:
    program = tmp_path / "server.py"
    program.write_text(SERVER + code)
    return Connection(
        [sys.executable, str(program)],
        answers=answers or {},
        timeout=timeout,
    )


ECHO = """
while (message := read())["method"] != "exit":
    if "id" in message:
        send(id=message["id"], result=message["params"])
"""


def test_a_request_gets_its_answer_with_every_character_intact(tmp_path: Path) -> None:
    with start(tmp_path, ECHO) as server:
        assert server.request("echo", {"text": "λ → 中 \n"}) == {"text": "λ → 中 \n"}


def test_a_question_of_the_server_is_answered_and_an_unknown_one_with_null(tmp_path: Path) -> None:
    code = """
message = read()
send(id="a", method="workspace/configuration", params={"item": "python"})
first = read()
send(id="b", method="unheard/of", params={})
send(id=message["id"], result=[first, read()])
"""
    with start(
        tmp_path, code, answers={"workspace/configuration": lambda asked: [asked["item"]]}
    ) as server:
        first, second = server.request("start", {})
        assert (first["id"], first["result"]) == ("a", ["python"])
        assert (second["id"], second["result"]) == ("b", None)


def test_a_notification_is_found_that_came_before_it_was_waited_for(tmp_path: Path) -> None:
    code = (
        """
send(method="publish", params={"version": 1})
send(method="publish", params={"version": 2})
"""
        + ECHO
    )
    with start(tmp_path, code) as server:
        server.request("echo", 1)
        assert server.notification("publish", lambda params: params["version"] == 1) == {
            "version": 1
        }


def test_an_error_of_the_server_is_an_error(tmp_path: Path) -> None:
    code = 'send(id=read()["id"], error={"code": -32601, "message": "no such method"})\nread()\n'
    expected = pytest.raises(ServerError, match="initialize: the server answered .*no such method")
    with start(tmp_path, code) as server, expected:
        server.request("initialize", {})


@pytest.mark.parametrize(
    ("death", "says"),
    [
        ("sys.exit('out of memory')", "ended before"),
        (
            "sys.stdout.write('Content-Length: 99\\r\\n\\r\\n{'); sys.exit('out of memory')",
            r"sent no readable message \(.*\) before",
        ),
    ],
    ids=["between_messages", "in_a_message"],
)
def test_a_server_that_dies_is_an_error_with_its_last_words(
    tmp_path: Path, death: str, says: str
) -> None:
    expected = rf"{says} an answer to initialize(.|\n)*out of memory"
    with start(tmp_path, f"read()\n{death}\n") as server:
        began = time.monotonic()
        with pytest.raises(ServerError, match=expected):
            server.request("initialize", {})
        assert time.monotonic() - began < 15.0, "it must not wait for its timeout"
        with pytest.raises(ServerError):
            server.request("again", {})


def test_a_server_that_writes_something_else_is_an_error(tmp_path: Path) -> None:
    code = "read()\nprint('Traceback', flush=True)\nprint(flush=True)\ntime.sleep(600)\n"
    expected = pytest.raises(ServerError, match=r"no readable message \(it has no Content-Length\)")
    with start(tmp_path, code) as server, expected:
        server.request("initialize", {})


def test_a_server_that_does_not_answer_is_an_error_and_is_ended(tmp_path: Path) -> None:
    with start(tmp_path, "read()\ntime.sleep(600)\n", timeout=0.5) as server:
        with pytest.raises(
            ServerError, match=r"did not send an answer to initialize within 0\.5 s"
        ):
            server.request("initialize", {})
        began = time.monotonic()
        server.close()
        assert time.monotonic() - began < 5.0


def test_a_program_that_the_server_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        f"""
import subprocess
child = subprocess.Popen([{sys.executable!r}, "-c", "import time; time.sleep(600)"])
send(id=read()["id"], result=child.pid)
"""
        + ECHO
    )
    with start(tmp_path, code, timeout=10.0) as server:
        child = server.request("start", {})
        server.close()
    end = time.monotonic() + 20.0
    while _runs(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(process: int) -> bool:
    """Whether a process is there and not dead and left to whoever inherited it."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it ended just now, or this system has no /proc
        return not Path("/proc/self").exists()
