"""A repository in which a search loses code in every way there is. Each file says which one it is for."""

from __future__ import annotations

from pathlib import Path

from tests.indexed import write_files

N_FILLERS = 300  # more than all legs give together


def write_lossy(folder: Path) -> Path:
    """Write the repository; return its folder."""
    files = {**_texts(), **{f"filler/part_{i:03}.py": _filler(i) for i in range(N_FILLERS)}}
    return write_files(folder, files)


def _texts() -> dict[str, str]:
    return {
        "logo.png": "\x89PNG\x00\x00",  # not indexed: binary
        # Duplicate: the same text twice; only one of them is shown.
        "left/checksum.py": CHECKSUM,
        "right/checksum.py": CHECKSUM,
        # File limit: nothing else in the repository is about invoices, and only two of the four functions are shown.
        "shop/invoice.py": "".join(_invoice(name) for name in ("draft", "open", "paid", "void")),
        # Split: the tariff is in the first piece, the excise in the last one, of a function of several chunks.
        "harbour/ship.py": _split(),
        **{f"customs/tariff_excise_{i}.py": _rule(i) for i in range(6)},
        # Vocabulary: it shares no word with what is asked about the others.
        "cache/lru.py": 'def evict(entries):\n    """Drop stale entries."""\n    entries.popitem(last=False)\n',
        # No leg: it holds one word of the question in passing, and 300 others hold more and are nearer.
        "audio/mixer.py": MIXER,
        # Fusion: it holds the words, and its test and siblings say them more often.
        "auth/session.py": 'def touch(session):\n    """Renew the session token."""\n    return session\n',
        **{f"auth/token_{i}.py": _token(i) for i in range(6)},
    }


CHECKSUM = '''def adler_checksum(blocks):
    """Compute the adler checksum of all blocks."""
    total, other = 1, 0
    for block in blocks:
        total = (total + block) % 65521
        other = (other + total) % 65521
    return other << 16 | total
'''

MIXER = '''def mix(tracks, volume):
    """Blend stereo tracks at the given loudness; a worker may call it."""
    left = sum(track.left * volume for track in tracks)
    right = sum(track.right * volume for track in tracks)
    return left, right
'''


def _filler(i: int) -> str:
    return f'''def retry_job_{i}(worker, queue):
    """Retry failed job {i} of the worker queue with backoff delay."""
    for attempt in range({i % 7 + 2}):
        worker.sleep_backoff_delay(attempt, {i})
        if queue.retry(worker, {i}):
            return attempt
    raise TimeoutError("retry of job {i} failed")


'''


def _invoice(state: str) -> str:
    rates = "".join(f"    {at},\n" for at in range(200))  # keeps the functions further apart than a hit is wide
    return f'''def {state}_invoice(invoice):
    """Give the invoice the state {state}, unless its ledger is locked."""
    if invoice.ledger.locked:
        raise ValueError("{state}: the ledger of the invoice is locked")
    invoice.state = "{state}"
    invoice.ledger.book(invoice, "{state}")
    return invoice


{state.upper()}_RATES = [
{rates}]


'''


def _split() -> str:
    lines = ["def ship(goods):"]
    for words in ("tariff[{0}] = goods.duty[{0} - 1]", "width[{0}] = goods.depth[{0} + 2]", "excise[{0}] = stamp"):
        lines += [f"    goods.{words.format(i)}" for i in range(70)]
    return "\n".join(lines) + "\n    return goods\n"


def _rule(i: int) -> str:
    return f'''def customs_rule_{i}(tariff, excise):
    """Tariff and excise of rule {i}: the excise stamp follows the tariff class."""
    return tariff.rate({i}) + excise.stamp({i})
'''


def _token(i: int) -> str:
    return f'''def renew_session_token_{i}(session, token):
    """Renew the session token of kind {i}: a session token that was renewed {i} times stays."""
    session.token = token.renew(session, {i})
    return session.token
'''
