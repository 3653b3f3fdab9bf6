"""What one listing of the fake API answers: records from the schema, pages as the paginator wants them."""
import datetime
import hashlib
import itertools
import json
import re

import requests
from airbyte_cdk.sources.declarative.requesters.paginators.strategies import CursorPaginationStrategy

import manifests

DAY = datetime.timedelta(days=1)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def put(record, path, value):
    """Sets a value in nested objects; what is in the way is replaced."""
    for name in path[:-1]:
        inner = record.get(name)
        if not isinstance(inner, dict):
            inner = record[name] = {}
        record = inner
    record[path[-1]] = value


def get(record, path):
    for name in path:
        if not isinstance(record, dict) or name not in record:
            return None
        record = record[name]
    return record


class Listing:
    def __init__(self, stream, folder, config):
        self.stream, self.config = stream, config
        self.name = stream.get("name") or "stream"
        self.parameters = stream.get("$parameters", {})
        retriever = stream["retriever"]
        self.requester = retriever.get("requester") or {}
        self.selector = retriever.get("record_selector") or {}
        self.paginator = retriever.get("paginator") or {}
        self.cursor = stream.get("incremental_sync") or {}
        self.schema = manifests.schema_of(stream, folder, self.parameters, config)
        self.is_parent = False
        self.parent_keys = []
        self.method = self.requester.get("http_method") or "GET"
        parameters = self.requester.get("$parameters", {})
        base = self.requester.get("url") or self.requester.get("url_base") or ""
        path = self.requester.get("path") or ""
        if base and path and "://" not in path[:8]:
            base = base.rstrip()
            whole = (base if base.endswith("/") else base + "/") + path.lstrip("/")
        else:
            whole = path if "://" in path[:8] else base
        text, self.known = manifests.pattern(whole.strip(), parameters, config)
        self.url = re.compile("(?:https?://)?" + text.removeprefix("https://").removeprefix("http://") + "/?")
        if "\\?" in text:
            self.url = re.compile(self.url.pattern.split("\\?")[0] + "/?")
        self.is_child = bool(retriever.get("partition_router"))
        self.windows()
        self.paging()
        self.combination = {}
        self.made = {}

    # Which requests are of this listing

    def templates(self):
        """The texts of the request's parameters and body, by the place where they are sent."""
        for name in ("request_parameters", "request_body_json", "request_body_data", "request_body"):
            part = self.requester.get(name)
            part = part.get("value") if name == "request_body" and isinstance(part, dict) else part
            if isinstance(part, dict):
                for key, value in part.items():
                    yield name, key, value

    def score(self, method, url, sent):
        if method != self.method or not self.url.fullmatch(url):
            return None
        score = self.known
        for _, key, value in self.templates():
            if isinstance(value, str) and "{" not in value:
                score += 5 if str(sent.get(key)) == value else -5
        return score

    # Windows of time

    def windows(self):
        self.bounds = []  # (parameter, pattern, which end of the window, format)
        cursor = self.cursor
        self.form = cursor.get("datetime_format") or "%Y-%m-%dT%H:%M:%SZ"
        self.record_form = (cursor.get("cursor_datetime_formats") or [self.form])[0]
        start, end = cursor.get("partition_field_start") or "start_time", cursor.get("partition_field_end") or "end_time"
        for option, which in ((cursor.get("start_time_option"), 0), (cursor.get("end_time_option"), 1)):
            if option and option.get("field_name"):
                name = manifests.render(option["field_name"], self.parameters, self.config)
                self.bounds.append((name, re.compile("(.+)"), which))
        for _, key, value in self.templates():
            if not isinstance(value, str) or (start not in value and end not in value):
                continue
            # One rule for each end that the text has.
            for which, word in ((0, start), (1, end)):
                out, groups = "", 0
                for piece in re.split(r"(\{\{.*?\}\})", value):
                    if piece.startswith("{{") and word in piece and not groups:
                        out, groups = out + "(.+?)", 1
                    elif piece.startswith("{{"):
                        out += ".*?"
                    else:
                        out += re.escape(piece)
                if groups:
                    self.bounds.append((key, re.compile(out), which))

    def window(self, sent):
        low = high = None
        for name, rule, which in self.bounds:
            found = rule.fullmatch(str(sent.get(name, "")))
            time = found and manifests.parse_time(found[1], self.form)
            if time and which == 0:
                low = time
            elif time:
                high = time
        return low, high

    # Pages

    def paging(self):
        strategy = self.paginator.get("pagination_strategy") or {}
        self.strategy = strategy
        self.style = strategy.get("type") if self.paginator.get("type") == "DefaultPaginator" else None
        token = self.paginator.get("page_token_option") or {}
        self.token_in_path = token.get("type") == "RequestPath"
        self.token_name = self.place(token)
        self.size_name = self.place(self.paginator.get("page_size_option") or {})
        self.size = 3
        size = strategy.get("page_size")
        if size is not None:
            try:
                self.size = int(manifests.render(size, strategy.get("$parameters"), self.config))
            except (TypeError, ValueError):
                pass
        self.is_once = self.style is None
        self.issued = {}
        if self.style == "CursorPagination":
            self.paths = []
            for text in (strategy.get("cursor_value"), strategy.get("stop_condition")):
                for path in manifests.chains(text, ("response", "headers")):
                    if path not in self.paths and path[1:2] != ["Link"]:
                        self.paths.append(path)
            records = ["response"] + [p for p in self.field_path() if p != "*"]
            self.paths = [p for p in self.paths if p[:len(records)] != records or len(records) == 1 and len(p) > 1
                          and p[1] not in (-1, 0)][:5]
            self.reader = CursorPaginationStrategy(
                cursor_value=strategy.get("cursor_value"), config=self.config, page_size=self.size,
                stop_condition=strategy.get("stop_condition"), parameters=strategy.get("$parameters", {}))

    def place(self, option):
        if option.get("field_path"):
            return ".".join(str(manifests.render(p, self.parameters, self.config)) for p in option["field_path"])
        return manifests.render(option.get("field_name"), option.get("$parameters", self.parameters), self.config)

    def field_path(self):
        extractor = self.selector.get("extractor") or {}
        path = [str(manifests.render(p, extractor.get("$parameters"), self.config))
                for p in extractor.get("field_path") or []]
        return [p for p in path if p != ""]

    def identity(self, url, sent):
        own = {self.token_name, self.size_name, "_page"} | {name for name, _, _ in self.bounds}
        return url + json.dumps({k: v for k, v in sent.items() if k not in own}, sort_keys=True)

    def answer(self, url, full_url, sent, api):
        """The status, headers and body of a reply."""
        identity = self.identity(url, sent)
        low, high = self.window(sent)
        records = [r for r, time in self.records(identity, api)
                   if (low is None or time >= low) and (high is None or time <= high)]
        key = (identity, str(low), str(high))
        token = str(sent.get(self.token_name, "")) if self.token_name else ""
        size = self.size
        try:
            size = int(sent.get(self.size_name, size)) if self.size_name else size
        except (TypeError, ValueError):
            pass
        size = max(size, 1)
        first = 0
        if self.style == "PageIncrement":
            start = int(self.strategy.get("start_from_page") or 0)
            page = int(token or start) - start
            first = page * size
        elif self.style == "OffsetIncrement":
            first = int(float(token or 0))
        elif self.style == "CursorPagination":
            first = self.issued.get((key, full_url if self.token_in_path else token), 0)
        page = records if self.is_once else records[max(first, 0):max(first, 0) + size]
        body, headers = self.body(page), {}
        if self.style == "CursorPagination":
            more = first + size < len(records)
            body, headers = self.with_token(key, page, token, full_url, first, size, len(records), more)
        return body, headers, (identity, first)

    def body(self, page):
        path = self.field_path()
        if not path:
            return page if not self.is_object() else (page[0] if page else {})
        root = {}
        if "*" in path:
            index = path.index("*")
            before, after = path[:index], path[index + 1:]
            inner = page
            if after and "*" not in after:
                inner = []
                for record in page:
                    element = {}
                    put(element, after, record)
                    inner.append(element)
            if not before:
                return inner
            put(root, before, inner)
            return root
        put(root, path, page)
        return root

    def is_object(self):
        """Without paging and a path, a reply is one record as often as a list: each listing takes turns."""
        return self.style is None and not self.is_child and len(self.name) % 2 == 0

    def with_token(self, key, page, token, full_url, first, size, total, more):
        name = self.token_name or "_page"
        mark = "t" + digest(str((key, first)))[:8]
        bare = re.sub(r"[?&]" + re.escape(name) + r"=[^&]*", "", full_url)
        url = bare + ("&" if "?" in bare else "?") + f"{name}={mark}"
        number = first // size + 1
        natural = [
            (r"(total_?pages|pages|last_?page|page_?count|num_pages)$", -(-total // size)),
            (r"(total|count|total_?count|total_?records|total_?items)$", total),
            (r"(page|current_?page|page_?number)$", number), (r"(offset|start|start_?at|skip|from)$", first),
            (r"(limit|per_?page|size|page_?size|max\w*)$", size),
            (r"(has_?more|more|has_?next\w*|incomplete|has_more_\w+)$", more),
            (r"(is_?last\w*|last|done|finished|end_of\w*)$", not more)]
        usual = []
        for path in self.paths:
            value = next((v for rule, v in natural if re.search(rule, str(path[-1]), re.I)), "token")
            if value == "token":
                value = (url if self.token_in_path or re.search("url|href|link|next$|next_page$", str(path[-1]), re.I) and
                         self.token_in_path else mark) if more else None
            usual.append(value)
        others = [url, mark, number + 1, number, True] if more else [None, "", False, "absent", number, total]
        known = self.combination.get(more)
        tries = itertools.chain([usual], itertools.product(others, repeat=len(self.paths)) if len(self.paths) < 5 else [])
        if known is not None:
            tries = itertools.chain([known(usual, others)], tries)
        for index, values in enumerate(tries):
            body, headers = self.body(page), {}
            for path, value in zip(self.paths, values):
                if path[0] == "headers":
                    if str(path[1]).lower() == "link" and value:
                        headers["Link"] = f'<{url}>; rel="next"'
                    elif value not in (None, "absent"):
                        headers[str(path[1])] = str(value)
                elif value != "absent" and isinstance(body, dict) and all(isinstance(p, str) for p in path[1:]):
                    put(body, path[1:], value)
            reply = requests.Response()
            reply._content, reply.status_code = json.dumps(body).encode(), 200
            reply.headers.update(headers)
            try:
                next_token = self.reader.next_page_token(reply, len(page), page[-1] if page else None, token or None)
            except Exception:
                next_token = None
            if more and next_token and str(next_token) != token and (self.token_in_path or self.token_name):
                text = str(next_token)
                if self.token_in_path and "://" not in text:
                    text = full_url.split("://")[0] + "://" + full_url.split("://")[1].split("/")[0] + "/" + text.lstrip("/")
                self.issued[(key, text)] = first + size
                return body, headers
            if not more and not next_token:
                return body, headers
            if index > 400:
                break
        return self.body(page), {}

    # Records

    def count(self, identity):
        if self.is_once:
            return 3
        size = self.size
        if size > 10 and self.is_parent:
            return 4
        return size + 1 if self.is_child else 2 * size + 1

    def records(self, identity, api):
        """The records of one listing, which are made once for each generation."""
        key = (identity, api.generation)
        if key not in self.made:
            self.made[key] = self.make(identity, api)
        return self.made[key]

    def make(self, identity, api):
        name = digest(identity)[:10]
        api.owners[name] = identity
        count = self.count(identity)
        wanted = []
        for index in range(count + (1 if api.generation > 1 and not self.is_parent else 0)):
            seed = int(digest(f"{name}{index}")[:8], 16)
            own = {path[0] for path in self.keys()}
            # An object that changes has a later time; one whose time is in its key cannot.
            changed = api.generation > 1 and index == 0 and self.cursor_field() not in map(tuple, self.keys())
            read = {path[0] for path in self.read_paths()}
            record = {key: value(part, seed + n, key, changed and key not in read and key not in own) for n, (key, part) in enumerate(self.schema.items())}
            if not self.schema:
                record = {"id": f"{name}{index}", "name": f"name {seed % 97}{'!' if changed else ''}"}
            time = api.base - datetime.timedelta(hours=(count - index) * 200 / count)
            if changed or api.generation > 1 and index == count:
                time = api.base - datetime.timedelta(minutes=5 + index)
            self.shape(record, name, index, time)
            wanted.append((record, time))
        return wanted

    def shape(self, record, name, index, time):
        flat = [t for t in self.stream.get("transformations") or [] if t.get("type") == "DpathFlattenFields"]
        # Fields that transformations, filters and children read.
        for path in self.read_paths():
            if get(record, path) is None and (path[0] not in self.schema or isinstance(record.get(path[0]), dict)):
                put(record, path, self.filling(path, index))
        for path, literal in self.filtered():
            put(record, path, literal if index % 3 else f"no {literal}")
        for path in self.keys():
            part = self.schema.get(path[0], {}) if len(path) == 1 else {}
            kind = json.dumps(part.get("type") or [o.get("type") for o in part.get("anyOf", part.get("oneOf", []))])
            if "string" not in kind and ("integer" in kind or "number" in kind):
                put(record, path, int(name[:7], 16) * 1000 + index)
            elif not isinstance(get(record, path), str) or path not in self.filter_paths():
                put(record, path, f"{name}-{index}")
        field = manifests.render(self.cursor.get("cursor_field"), self.parameters, self.config) if self.cursor else None
        if field and self.cursor.get("type") == "DatetimeBasedCursor":
            put(record, field.split("."), manifests.print_time(time, self.record_form))
            for path in self.copied(field):
                put(record, path, manifests.print_time(time, self.record_form))
        for transformation in flat:
            path = [str(manifests.render(p, self.parameters, self.config)) for p in transformation["field_path"]]
            if "*" in path:
                continue
            inner = {k: record.pop(k) for k in list(record)
                     if [k] not in self.keys() and k not in path and k != field}
            put(record, path, {**inner, **(get(record, path) if isinstance(get(record, path), dict) else {})})

    def filling(self, path, index):
        """A value for a field that must not be null: of the schema's type, or a text."""
        part = {"properties": self.schema}
        for name in path:
            part = (part.get("properties") or {}).get(name) if isinstance(part, dict) else None
        kinds = part.get("type") if isinstance(part, dict) else None
        kinds = [kinds] if isinstance(kinds, str) else [k for k in kinds or [] if k != "null"]
        if kinds in (["string"], ["object"], ["array"]) and not (part or {}).get("format") or not kinds:
            return f"{'.'.join(map(str, path))} {index}"
        return value({**part, "type": kinds}, index, path[-1], False)

    def cursor_field(self):
        field = manifests.render(self.cursor.get("cursor_field"), self.parameters, self.config) if self.cursor else None
        return tuple(field.split(".")) if field else None

    def keys(self):
        key = self.stream.get("primary_key") or []
        key = key if isinstance(key, list) else [key]
        paths = [[str(p) for p in part] if isinstance(part, list) else
                 [str(manifests.render(part, self.parameters, self.config))] for part in key]
        added = [f.get("path") for t in self.stream.get("transformations") or [] if t.get("type") == "AddFields"
                 for f in t.get("fields", [])]
        return [p for p in paths + self.parent_keys if p not in added or p in self.parent_keys and p not in added]

    def read_paths(self):
        if not hasattr(self, "_read"):
            texts = [f.get("value") for t in self.stream.get("transformations") or [] for f in t.get("fields") or []
                     if t.get("type") == "AddFields"]
            found = []
            for text in texts:
                for path in manifests.chains(text, ("record",)):
                    path = path[1:]
                    if path and all(isinstance(p, str) for p in path) and path not in found:
                        found.append(path)
            self._read = found
        return self._read

    def copied(self, field):
        """The paths in the record from which a transformation takes a field."""
        return [path[1:] for t in self.stream.get("transformations") or [] if t.get("type") == "AddFields"
                for f in t.get("fields") or [] if f.get("path") == [field]
                for path in manifests.chains(f.get("value"), ("record",)) if all(isinstance(p, str) for p in path)]

    def filtered(self):
        if not hasattr(self, "_filtered"):
            condition = (self.selector.get("record_filter") or {}).get("condition") or ""
            literals = re.findall(r"[=!]=\s*['\"]([^'\"]+)['\"]", condition) + re.findall(
                r"['\"]([^'\"]+)['\"]\s*in\s", condition)
            paths = [p[1:] for p in manifests.chains(condition, ("record",)) if all(isinstance(x, str) for x in p)]
            self._filtered = [(path, literals[0]) for path in paths[:1]] if literals else []
        return self._filtered

    def filter_paths(self):
        return [path for path, _ in self.filtered()]

    # Faults

    def ignored_codes(self):
        handlers = [self.requester.get("error_handler") or {}]
        codes, own = [], []
        while handlers:
            handler = handlers.pop()
            handlers += handler.get("error_handlers") or []
            for rule in handler.get("response_filters") or []:
                own += rule.get("http_codes") or []
                if rule.get("action") == "IGNORE" and not rule.get("predicate") and not rule.get("error_message_contains"):
                    codes += [c for c in rule.get("http_codes") or [] if c not in codes]
        return codes, own


def value(schema, seed, name, changed, depth=0):
    """A value that fits a JSON Schema."""
    if not isinstance(schema, dict):
        return "text"
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][seed % len(schema["enum"])]
    options = schema.get("oneOf") or schema.get("anyOf")
    if options and not schema.get("type"):
        return value(next((o for o in options if o.get("type") != "null"), {}), seed, name, changed, depth)
    kinds = schema.get("type") or "string"
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    kind = next((k for k in kinds if k != "null"), "string")
    if "null" in kinds and seed % 7 == 3 and kind not in ("object", "array"):
        return None
    if kind == "object":
        return {k: value(p, seed + n, k, changed, depth + 1) for n, (k, p) in enumerate(
            (schema.get("properties") or {}).items())} if depth < 4 else {}
    if kind == "array":
        items = schema.get("items") or {"type": "string"}
        items = items[0] if isinstance(items, list) and items else items
        return [value(items, seed + n, name, changed, depth + 1) for n in range(seed % 3)] if depth < 4 else []
    if kind == "integer":
        return seed % 100_000 + changed
    if kind == "number":
        return seed % 1000 + (0 if schema.get("airbyte_type") == "integer" else 0.25) + changed
    if kind == "boolean":
        return seed % 2 == 0
    moment = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=seed % 30_000_000)
    if schema.get("format") == "date-time":
        if schema.get("airbyte_type") == "timestamp_without_timezone":
            return moment.strftime("%Y-%m-%dT%H:%M:%S")
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    if schema.get("format") == "date":
        return moment.strftime("%Y-%m-%d")
    return f"{name} {seed % 9973}{' changed' if changed else ''}"
