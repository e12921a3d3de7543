"""The events of a private daemon, as `blazectl watch` tells them."""
import json
import queue
import subprocess
import threading


class Watch:
    """Reads in a thread of its own; `seen` holds what `next` gave."""

    def __init__(self, blazectl, socket):
        self.seen = []
        self._events = queue.Queue()
        self._program = subprocess.Popen([blazectl, "--socket", socket, "--json", "watch"], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._program.stdout:
            self._events.put(json.loads(line))

    def next(self, seconds):
        """The next event, or None where none comes in so long."""
        try:
            self.seen.append(self._events.get(timeout=seconds))
        except queue.Empty:
            return None
        return self.seen[-1]

    def close(self):
        self._program.terminate()
        self._program.wait(10)
        self._reader.join(10)
