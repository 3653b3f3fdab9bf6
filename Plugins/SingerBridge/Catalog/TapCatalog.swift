internal import BridgeKit
internal import Glibc
internal import RecordBatch
internal import SystemCalls

/// The streams of a tap according to its catalog.
struct TapCatalog {
    /// A stream of a catalog.
    struct Stream {
        let index: Int
        /// The name that its messages have; two tables of different schemas may have the same.
        let name: String
        /// The name that no other stream has.
        let id: String
        let replication: Replication?
        let replicationKey: String?
        let keys: [String]
        /// The JSON Schema of the stream's records.
        let schema: BridgeOptions
    }

    private static let maxFileSize = 64 << 20
    private let batch: RecordBatch
    let streams: [Stream]
    /// The names that several streams have.
    private let sharedNames: Set<String>
    /// Whether the tap wrote the catalog for this bridge, so that it contains no selection by the user.
    private let isDiscovered: Bool

    /// Reads the catalog from its file or by running the tap.
    ///
    /// - Throws: ``BridgeError``.
    init(of tap: Tap) throws {
        let text: String
        let place: String
        if case .file(let path) = tap.options.catalog {
            place = tap.options.resolved(path)
            text = try Self.read(path, at: place, tap)
            isDiscovered = false
        } else {
            place = "what \(tap.name) prints with --discover"
            text = try Self.discover(tap)
            isDiscovered = true
        }
        do {
            batch = try JSONParser.batch(text)
        } catch {
            throw BridgeError(
                isDiscovered ? .malformed : .configuration, "\(place) is not a catalog: \(error)",
                remedy: "give the path of a catalog, or \"catalog: none\" if the tap has none",
                remote: String(decoding: tap.options.texts.prefix(Array(text.utf8), 200), as: UTF8.self))
        }
        let found = batch[0]["streams"]?.elements ?? []
        let all = found.enumerated().compactMap { Stream($1, at: $0) }
        streams = all
        var names: Set<String> = []
        var shared: Set<String> = []
        for stream in all where !names.insert(stream.name).inserted { shared.insert(stream.name) }
        sharedNames = shared
        guard !streams.isEmpty else {
            throw BridgeError(
                isDiscovered ? .malformed : .configuration, "\(place) has no streams",
                remedy: "a catalog is {\"streams\": [{\"tap_stream_id\", \"schema\", \"metadata\"}]}")
        }
    }

    /// Returns the file's text; a fixture contains it, so that a replay needs no file.
    private static func read(_ name: String, at path: String, _ tap: Tap) throws -> String {
        guard let tape = tap.context.exchange else { return try read(path) }
        let request = Exchange.Request(method: "READ", target: name)
        if tape.isReplaying {
            switch try tape.replay(request).reply {
            case .answer(_, _, let body): return String(decoding: body, as: UTF8.self)
            case .failure(let code, let message, _): throw BridgeError(code, message)
            }
        }
        let take = tape.begin(request)
        let text = try read(path)
        try take.finish(.answer(status: "ok", headers: [], body: Array(text.utf8)))
        return text
    }

    private static func read(_ path: String) throws -> String {
        do throws(BoundedFile.Failure) {
            return String(decoding: try BoundedFile.read(path, limit: maxFileSize), as: UTF8.self)
        } catch {
            switch error {
            case .tooLarge: throw BridgeError(.limit, "the catalog \(path) has more than \(maxFileSize >> 20) MiB")
            // A folder, which is reported as a catalog without text.
            case .unreadable(EISDIR): return ""
            case .unopenable, .unreadable, .invalidPath, .irregular, .silent:
                throw BridgeError(
                    .configuration, "the catalog \(path) cannot be read: \(error.words)",
                    remedy: "write one with the tap's --discover, or leave \"catalog\" out")
            }
        }
    }

    private static func discover(_ tap: Tap) throws -> String {
        let process = try tap.run(.discovery)
        defer { process.end() }
        var bytes: [UInt8] = []
        // Below the host's own time limit for a call.
        let deadline = MonotonicClock.milliseconds + min(tap.options.silence, 240) * 1000
        reading: while true {
            switch try process.next(within: 1000) {
            case .line(let line): bytes += line + [UInt8(ascii: "\n")]
            case .rest(let rest): bytes += rest
            case .end: break reading
            case .nothing: break
            }
            guard bytes.count <= maxFileSize else {
                throw BridgeError(.limit, "the catalog of \(tap.name) has more than \(maxFileSize >> 20) MiB")
            }
            guard MonotonicClock.milliseconds < deadline else {
                throw BridgeError(
                    .timeout, "\(tap.name) did not list its streams in time",
                    remedy: "keep them in a file: \"catalog: FILE\"", remote: process.lastMessage)
            }
        }
        try tap.validate(try process.exit(), process, doing: "listing its streams (--discover)")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the name by which a section refers to a stream: its ID if other streams have the same name.
    func word(for stream: Stream) -> String { sharedNames.contains(stream.name) ? stream.id : stream.name }

    /// Returns the stream that an entity names, by its ID or else by its name.
    ///
    /// - Throws: ``BridgeError`` with the names of the existing streams.
    func stream(named name: String, of tap: String) throws -> Stream {
        if let stream = streams.first(where: { $0.id == name }) { return stream }
        let named = streams.filter { $0.name == name }
        if named.count == 1 { return named[0] }
        let words = (named.isEmpty ? streams : named).map { word(for: $0) }
        let shown = words.prefix(20).joined(separator: ", ") + (words.count > 20 ? ", ..." : "")
        guard named.isEmpty else {
            throw BridgeError(
                .configuration, "\(tap) has \(named.count) streams of the name `\(name)`",
                remedy: "write the tap_stream_id of one: \(shown)")
        }
        throw BridgeError(.configuration, "\(tap) has no stream `\(name)`", remedy: "its streams: \(shown)")
    }

    /// Returns the catalog's JSON with one stream selected.
    func selecting(_ stream: Stream, _ section: TapSection) throws -> String {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("streams")
            writer.array {
                for (index, entry) in (batch[0]["streams"]?.elements ?? []).enumerated() where entry.tag == .object {
                    write(entry, isSelected: index == stream.index, section, to: writer)
                }
            }
        }
        do {
            return try writer.finish().json(0)
        } catch {
            throw BridgeError(.internal, "the catalog cannot be written: \(error)")
        }
    }

    private func write(_ entry: BatchValue, isSelected: Bool, _ section: TapSection, to writer: RecordBatchWriter) {
        var method: (method: String?, key: String?)
        if isSelected { method = (section.replication?.rawValue, section.replicationKey) }
        let replaced = [
            "metadata": true, "selected": true, "replication_method": method.method != nil,
            "replication_key": method.key != nil,
        ]
        writer.object {
            for (name, value) in entry.members where replaced[name] != true {
                writer.key(name)
                if name == "schema" { Self.write(schema: value, isSelected, to: writer) } else { writer.copy(value) }
            }
            writer.member("selected", isSelected)
            if let name = method.method { writer.member("replication_method", name) }
            if let key = method.key { writer.member("replication_key", key) }
            writer.key("metadata")
            writer.array {
                for item in entry["metadata"]?.elements ?? [] where !Self.isOfStream(item) {
                    if isSelected, isDiscovered { Self.select(item, writer) } else { writer.copy(item) }
                }
                writer.object {
                    writer.key("breadcrumb")
                    writer.array {}
                    writer.key("metadata")
                    writer.object {
                        let own = entry["metadata"]?.elements.first(where: Self.isOfStream)?["metadata"]
                        for (name, value) in own?.members ?? [] where name != "selected" {
                            if name == "replication-method", method.method != nil { continue }
                            if name == "replication-key", method.key != nil { continue }
                            writer.key(name)
                            writer.copy(value)
                        }
                        writer.member("selected", isSelected)
                        if let name = method.method { writer.member("replication-method", name) }
                        if let key = method.key { writer.member("replication-key", key) }
                    }
                }
            }
        }
    }

    /// Writes the selection into the schema, where the oldest taps read it.
    private static func write(schema: BatchValue, _ isSelected: Bool, to writer: RecordBatchWriter) {
        guard schema.tag == .object else { return writer.copy(schema) }
        writer.object {
            for (name, value) in schema.members where name != "selected" {
                writer.key(name)
                writer.copy(value)
            }
            writer.member("selected", isSelected)
        }
    }

    private static func isOfStream(_ item: BatchValue) -> Bool {
        item["breadcrumb"].map { $0.tag == .array && $0.count == 0 } ?? false
    }

    /// Writes a property with `selected`, unless the tap already decided about it.
    private static func select(_ item: BatchValue, _ writer: RecordBatchWriter) {
        let own = item["metadata"]
        let isDecided = own?["selected"] != nil || own?["inclusion"]?.text == "unsupported"
        writer.object {
            for (name, value) in item.members where name != "metadata" {
                writer.key(name)
                writer.copy(value)
            }
            writer.key("metadata")
            writer.object {
                for (name, value) in own?.members ?? [] {
                    writer.key(name)
                    writer.copy(value)
                }
                if !isDecided { writer.member("selected", true) }
            }
        }
    }
}

extension TapCatalog.Stream {
    init?(_ entry: BatchValue, at index: Int) {
        guard let name = (entry["stream"] ?? entry["tap_stream_id"])?.text else { return nil }
        self.index = index
        self.name = name
        id = entry["tap_stream_id"]?.text ?? name
        let metadata = entry["metadata"]?.elements.first { $0["breadcrumb"].map { $0.count == 0 } ?? false }?[
            "metadata"]
        let word = [
            metadata?["replication-method"], entry["replication_method"], metadata?["forced-replication-method"],
        ].lazy.compactMap { $0?.text }.first
        replication = word.flatMap { Replication(word: $0) }
        let bookmarks = metadata?["valid-replication-keys"]?.elements.compactMap(\.text) ?? []
        replicationKey = metadata?["replication-key"]?.text ?? entry["replication_key"]?.text ?? bookmarks.first
        let declared = (entry["key_properties"] ?? metadata?["table-key-properties"])?.elements.compactMap(\.text) ?? []
        let viewed = metadata?["view-key-properties"]?.elements.compactMap(\.text) ?? []
        keys = declared.isEmpty ? viewed : declared
        schema = entry["schema"].map { BridgeOptions(copying: $0) } ?? .empty
    }
}

extension Tap {
    /// Throws if the tap ended with an error.
    ///
    /// - Throws: ``BridgeError``.
    func validate(_ exit: TapProcess.Exit, _ process: any TapRun, doing: String) throws {
        let words = process.lastMessage
        var memory = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &memory)
        let isLimited = memory.rlim_cur < rlim_t(Int.max)
        switch exit {
        case .code(0): return
        case .code(let code):
            if isLimited, words?.contains("MemoryError") == true || words?.contains("annot allocate memory") == true {
                throw BridgeError(
                    .limit, "\(name) exceeded its memory limit (\(memory.rlim_cur >> 20) MiB)",
                    remedy: "raise \"memory\" of the bridge", remote: words)
            }
            throw BridgeError(
                .remote, "\(name) failed while \(doing), with exit code \(code)",
                remedy: "`--verbose` shows all of its output", remote: words)
        case .signal(let signal):
            throw BridgeError(
                .remote,
                "\(name) was ended by \(String(cString: strsignal(signal)).lowercased()) (signal \(signal)) while \(doing)",
                remedy: isLimited ? "it may have needed more memory than \"memory\" of the bridge allows" : nil,
                remote: words)
        }
    }
}
