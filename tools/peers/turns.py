"""A peer's worker process as its master sees it: asked, timed out, restarted."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading

START_SECONDS = 180  # importing and finding the GPU


class Worker:
    def __init__(self, name, device, cache, log):
        self.name, self.device, self.cache, self.log = name, device, cache, log
        self.process, self.replies, self.absent, self.versions = None, None, None, {}

    def start(self):
        """True if the peer is there."""
        if self.process and self.process.poll() is None:
            return True
        if self.absent:
            return False
        command = [sys.executable, "-c", "import sys; from peers import worker; sys.exit(worker.serve(*sys.argv[1:]))", self.name,
                   self.device, self.cache]
        place = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([place, *filter(None, [os.environ.get("PYTHONPATH")])]),
                       "PYTHONDONTWRITEBYTECODE": "1"}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                            env=environment, start_new_session=True)
        self.replies = queue.Queue()
        threading.Thread(target=_read, args=(self.process.stdout, self.replies), daemon=True).start()
        hello = self.ask({"do": "hello"}, START_SECONDS)
        if "versions" not in hello:
            self.absent = hello.get("absent") or hello.get("error") or "did not start"
            self.stop()
            return False
        self.versions = hello["versions"]
        return True

    def ask(self, command, seconds):
        """The answer; {"error": ...} if there is none in time or the process dies, which is then gone."""
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            answer = self.replies.get(timeout=seconds)
        except queue.Empty:
            self.stop()
            return {"error": f"took more than {seconds:g} s", "late": True}
        except OSError:
            answer = None
        if answer is None:
            code = self.process.wait()
            self.stop()
            return {"error": f"the process died ({signal.Signals(-code).name if code < 0 else f'exit code {code}'})"}
        if answer.get("fatal"):
            self.stop()
        return answer

    def stop(self):
        if not self.process:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()
        self.process = None


def _read(stream, replies):
    """Lines of JSON into a queue; None at the end."""
    with stream:
        for line in stream:
            replies.put(json.loads(line))
    replies.put(None)
