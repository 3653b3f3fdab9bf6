"""Requests and values in forms that can be compared, however Airbyte's runtime and bmo write them."""
import datetime
import decimal
import json
import re

import manifests

UTC = datetime.timezone.utc


def from_json(text):
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def canonical(value, kind="text"):
    """The same form for the same value, however Airbyte and bmo write it."""
    if isinstance(value, bool):
        return decimal.Decimal(int(value))
    if value in (None, ""):
        return None
    if isinstance(value, (int, float)):
        return decimal.Decimal(repr(value)).normalize()
    if isinstance(value, (dict, list)):
        return json.dumps(plain(value), sort_keys=True)
    text = str(value)
    if kind == "date" and re.fullmatch(r"\d{8}", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    if text[:1] in "[{":
        try:
            return json.dumps(plain(json.loads(text)), sort_keys=True)
        except ValueError:
            return text
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return decimal.Decimal(text).normalize()
    if re.match(r"\d{4}-\d\d-\d\d", text):
        moment = manifests.parse_time(text, "")
        if moment:
            return moment.astimezone(UTC).isoformat()
    return {"true": decimal.Decimal(1), "false": decimal.Decimal(0)}.get(text.lower(), text)


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def without_now(value, now):
    """Replaces the time at which a program ran, which is another one for each."""
    if isinstance(value, dict):
        return {k: without_now(v, now) for k, v in value.items()}
    if isinstance(value, list):
        return [without_now(v, now) for v in value]

    def replaced(found):
        time = manifests.parse_time(found[0], "")
        return "NOW" if time and abs((time - now).total_seconds()) < 3600 else found[0]

    if isinstance(value, str):
        return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z]*(?<=[\dZ])|\b\d{10}(?:\d{3})?\b", replaced, value)
    return replaced([str(value)]) if isinstance(value, int) and value > 10**9 else value


def without(value, names):
    return {k: v for k, v in value.items() if k not in names} if isinstance(value, dict) else value


def by_stream(log, is_second):
    """The requests of each stream, without their order, and without those that ask the same again.

    The pages are left out: bmo asks for some ahead, and records show whether one is missing. So are the times of a second
    run: bmo reads a parent that is new from the start.
    """
    found, now = {}, datetime.datetime.now(UTC)
    for entry in log:
        entry = {**entry, **{name: without(without_now(entry[name], now), entry["paging"] + (entry["bounds"] if is_second else []))
                             for name in ("query", "body")}}
        headers = entry["headers"]
        text = json.dumps([entry["method"], entry["url"].rstrip("/"), entry["query"], entry["body"], headers], sort_keys=True)
        found.setdefault(entry["stream"], set()).add(text)
    return found


def without_bounds(texts, bounds):
    """The requests without the parameters that hold times."""
    found = set()
    for text in texts:
        method, url, query, body, headers = json.loads(text)
        found.add(json.dumps([method, url, without(query, bounds), without(body, bounds), headers], sort_keys=True))
    return found


def near(text, others):
    """What differs between a request and the one that is most like it."""
    mine = json.loads(text)
    best = None
    for other in others:
        theirs = json.loads(other)
        if mine[1] != theirs[1]:
            continue
        differences = []
        for index, name in ((2, "query"), (3, "body"), (4, "header")):
            a, b = mine[index] or {}, theirs[index] or {}
            if isinstance(a, dict) and isinstance(b, dict):
                for key in sorted(a.keys() | b.keys()):
                    if a.get(key) != b.get(key):
                        differences.append(f"{name} {key}: bmo {a.get(key)!r}, Airbyte {b.get(key)!r}")
            elif a != b:
                differences.append(name)
        if best is None or len(differences) < len(best):
            best = differences
    return "; ".join(best) if best is not None else f"no such path: {mine[1]}"
