"""Files corrupted at random, and counts of what a reader does with them."""

import sys
import time
from contextlib import contextmanager

import numpy as np

NOT_TO_HAPPEN = (
    "import",
    "exec",
    "compile",
    "os.system",
    "os.exec",
    "subprocess.Popen",
    "pickle.find_class",
    "marshal.loads",
    "ctypes.dlopen",
    "socket.connect",
)
AT_MOST = 1.0  # seconds of computing for a file


class Watch:
    """Records audit events while it is on; an audit hook cannot be removed."""

    def __init__(self):
        self.is_on, self.seen = False, []
        sys.addaudithook(self.note)

    def note(self, event, arguments):
        if self.is_on and event in NOT_TO_HAPPEN:
            self.seen.append((event, arguments))

    @contextmanager
    def on(self):
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False


def spoiled_bytes(raw, rng):
    """Flipped, cut, repeated or overwritten."""
    found = bytearray(raw)
    at, length = int(rng.integers(len(raw))), int(rng.integers(1, 40))
    match rng.integers(5):
        case 0:
            found[at] ^= 1 << int(rng.integers(8))
        case 1:
            del found[at:]
        case 2:
            del found[at : at + length]
        case 3:
            found[at:at] = found[at : at + length]
        case 4:
            found[at : at + length] = rng.bytes(len(found[at : at + length]))
    return bytes(found)


def places(tree):
    """Every entry of a tree of dictionaries and lists, as (what holds it, its key)."""
    found = [(tree, key) for key in tree]
    for node, key in found:
        part = node[key]
        if isinstance(part, dict):
            found += [(part, k) for k in part]
        elif isinstance(part, list):
            found += [(part, k) for k in range(len(part))]
    return found


def tally(watch, path, spoiled, outcome, *, n, seed):
    """Counts of outcomes, of slow files and of crashes over n corrupted files.

    Args:
        watch: records whatever is run.
        path: where each file is written.
        spoiled: (number, generator) to the bytes of a file.
        outcome: from a path to a word for the outcome; an exception is a crash.
        n: files.
        seed: of the generator.
    """
    rng = np.random.default_rng(seed)
    counts, crashes = {"slow": 0}, []
    for number in range(n):
        path.write_bytes(spoiled(number, rng))
        start = time.process_time()
        try:
            with watch.on():
                word = outcome(path)
        except Exception as error:
            word = "crashed"
            crashes.append((path.read_bytes()[:2000], repr(error)))
        counts[word] = counts.get(word, 0) + 1
        counts["slow"] += time.process_time() - start > AT_MOST
    return counts, crashes


def told(what, n, watch, counts, crashes):
    """The counts in one line."""
    shown = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    return f"\n{n} spoiled {what}: {shown}, {len(watch.seen)} executions, {len(crashes)} crashes"
