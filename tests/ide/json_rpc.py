"""`Connection`: JSON-RPC messages to and from a language server that runs as a child process."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

Answer = Callable[[Any], Any]


class ServerError(Exception):
    """The server died, took too long or answered with an error."""


class Connection:
    """One server process; a thread reads what it says and answers what it asks.

    Args:
        command: The program and its arguments.
        answers: For each method that the server may request, what to answer to its parameters;
            a method that is not here is answered with null.
        timeout: Seconds that a request may take.

    Raises:
        ServerError: From `request` and `notification`: the server is gone (with the end of what it
            wrote to stderr), answered with an error, or did not answer in time.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        answers: Mapping[str, Answer],
        timeout: float,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._command = list(command)
        self._answers = dict(answers)
        self._timeout = timeout
        self._ids = itertools.count(1)
        self._news = threading.Condition()
        self._responses: dict[int, Any] = {}
        self._notifications: list[tuple[str, Any]] = []
        self._end = ""  # why there is nothing more to read
        self._writing = threading.Lock()
        # A file and not a pipe: nobody has to read it for the server to go on.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        # A session of its own: the command may be a wrapper, and all of it has to end in the end.
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, **(environment or {})},
            cwd=folder,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read_all, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- what a client says ---------------------------------------------------------------------

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, which has no answer."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        """Send a request and return the result that the server answers with."""
        number = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        response = self._wait(lambda: self._responses.pop(number, None), f"an answer to {method}")
        if "error" in response:
            raise ServerError(f"{method}: the server answered {response['error']}")
        return response.get("result")

    def notification(self, method: str, wanted: Callable[[Any], bool]) -> Any:
        """Wait for a notification, also an earlier one, and return its parameters."""

        def found() -> Any:
            for name, params in reversed(self._notifications):
                if name == method and wanted(params):
                    return params
            return None

        return self._wait(found, f"a notification {method}")

    def close(self) -> None:
        """Ask the server to end, and end it, with every process that it started."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ServerError):
            self.request("shutdown", None)
            self.notify("exit", None)
            self._reader.join(2.0)
        # Before the process is waited for: until then nothing else can have its number.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            with contextlib.suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()

    # -- the wire -------------------------------------------------------------------------------

    def _send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        try:
            with self._writing:
                self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise self._error("is gone") from None

    def _read_all(self) -> None:
        assert self._process.stdout is not None
        end = "ended"
        try:
            while (message := _read_message(self._process.stdout)) is not None:
                self._take(message)
        except (OSError, ValueError, ServerError) as error:
            end = f"sent no readable message ({error})"
        with self._news:
            self._end = end
            self._news.notify_all()

    def _take(self, message: Any) -> None:
        method = message.get("method")
        if method is not None and "id" in message:
            result = self._answers.get(method, _null)(message.get("params"))
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            return
        with self._news:
            if method is None:
                self._responses[message["id"]] = message
            else:
                self._notifications.append((method, message.get("params")))
            self._news.notify_all()

    def _wait(self, found: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + self._timeout
        with self._news:
            while (result := found()) is None:
                if self._end:
                    raise self._error(f"{self._end} before {what}")
                if not self._news.wait(max(0.0, end - time.monotonic())):
                    raise self._error(f"did not send {what} within {self._timeout:g} s")
            return result

    def _error(self, what: str) -> ServerError:
        size = os.fstat(self._stderr.fileno()).st_size
        said = os.pread(self._stderr.fileno(), 2000, max(0, size - 2000)).decode(errors="replace")
        return ServerError(f"{' '.join(self._command)} {what}; its stderr ends with:\n{said}")


def _null(params: Any) -> None:
    del params


def _read_message(stream: IO[bytes]) -> Any:
    """Return the next message, or None at the end of the stream."""
    length: int | None = None
    while (line := stream.readline()).strip():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    if not line:
        return None
    if length is None:
        raise ServerError("it has no Content-Length")
    return json.loads(stream.read(length))
