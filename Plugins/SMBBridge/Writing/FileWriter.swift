import BridgeKit
import RecordBatch
import RowFormats
internal import TextFormats

/// Creates, changes, moves and deletes the files and folders of an entity's objects.
///
/// A file is written under a temporary name in its folder, then renamed, so no other client sees a partial file. A
/// concurrent change between the last check of the old file and the rename is lost.
struct FileWriter {
    let connection: SMBConnection
    let section: FileSection

    private var root: [String] { connection.url.folder }

    func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        do {
            switch request.operation {
            case .create: try create(request, into: writer)
            case .update: try update(request, into: writer)
            case .delete: try delete(request)
            }
        } catch let failure as SMBFailure {
            throw connection.explain(connection.confirmed(failure))
        }
    }

    private func create(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        let values = request.values
        let path = try target(of: values) ?? present(request)
        let isFolder = section.listing.kinds == .folders || values.bool("is_directory") == true
        let bytes = try content(values) ?? []
        var sizes = [UInt64(bytes.count)]
        // The size of a text that was read counts its byte order mark.
        if section.content == .text, values.has("content") {
            sizes.append(UInt64(bytes.count + TextEncoder.mark(in: section.encoding).count))
        }
        let outcome = FileOutcome(section: section, path: path, isFolder: isFolder, isNew: true, sizes: sizes)
        try outcome.check(values)
        try outcome.checkPlace()
        try checkSize(bytes, path)
        try path.checkLinks(on: connection)
        guard try connection.status(of: root + path.names) == nil else {
            throw conflict(path, "one of that name already exists")
        }
        try makeFolders(path.folder)
        if isFolder {
            try connection.makeFolder(root + path.names)
        } else {
            try put(bytes, at: path, replacing: nil)
            try setTimes(path, values)
        }
        try answer(path, into: writer)
    }

    private func update(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        let path = try present(request)
        try path.checkLinks(on: connection)
        let state = try expected(path, request)
        let target = try target(of: request.values, from: path) ?? path
        var bytes = try content(request.values)
        var sizes = [bytes.map { UInt64($0.count) } ?? state.size]
        if let text = bytes {
            guard !state.isDirectory else { throw conflict(path, "it is a folder, which has no content") }
            let whole = try mark(of: path, state, for: text) + text
            sizes.append(UInt64(whole.count))
            bytes = whole
            try checkSize(whole, path)
        }
        let outcome = FileOutcome(
            section: section, path: target, isFolder: state.isDirectory, isNew: false, sizes: sizes)
        try outcome.check(request.values)
        if target != path {
            try outcome.checkPlace()
            try checkFree(target, for: path)
        }
        // All that can be known to fail is found before this: an edit is not done by half.
        if let bytes { try put(bytes, at: path, replacing: state) }
        if target != path {
            try makeFolders(target.folder)
            try connection.move(root + path.names, to: root + target.names)
        }
        try setTimes(target, request.values)
        try answer(target, into: writer)
    }

    /// Refuses a path that a file cannot move to.
    private func checkFree(_ target: SharePath, for path: SharePath) throws {
        for depth in target.folder.indices {
            let folder = Array(target.folder[...depth])
            guard let state = try connection.status(of: root + folder) else { break }
            guard state.isDirectory else {
                throw conflict(target, "\(folder.joined(separator: "/")) is not a folder")
            }
        }
        try target.checkLinks(on: connection)
        // To many servers, the same name in another case is the same file, but others may have a file for each.
        let isAlike = FileRecord.key(target.text) == FileRecord.key(path.text)
        let isTaken =
            try isAlike ? target.isTaken(on: connection) : connection.status(of: root + target.names) != nil
        guard !isTaken else { throw conflict(target, "one of that name already exists") }
    }

    private func delete(_ request: WriteRequest) throws {
        let path = try present(request)
        try path.checkLinks(on: connection)
        // A missing file is already in the desired state.
        guard try connection.status(of: root + path.names) != nil else { return }
        if try expected(path, request).isDirectory {
            try connection.deleteFolder(root + path.names)
        } else {
            try connection.delete(root + path.names)
        }
    }

    /// Returns the path that the local object had when it was read.
    private func present(_ request: WriteRequest) throws -> SharePath {
        let known = KnownObject(request)
        if let text = known.string("path") ?? unnamedPath(request) { return try SharePath(text) }
        let folder = known.folder ?? section.listing.patterns.onlyFolder?.joined(separator: "/")
        guard let name = known.string("name"), let folder else {
            throw BridgeError(
                .configuration, "a \(request.entity) has no path: bmo cannot tell which file it is",
                remedy: "give the entity an attribute that reads path")
        }
        return try SharePath(folder.isEmpty ? name : folder + "/" + name)
    }

    /// Returns the only key of an object, which is taken for its path if an older host does not say what it reads.
    private func unnamedPath(_ request: WriteRequest) -> String? {
        let names = request.key.names
        guard request.objectPaths.isEmpty, request.keyPaths.isEmpty, names.count == 1,
            !(FileSection.fields + section.listing.patterns.captureNames).contains(names[0])
        else { return nil }
        return request.key.string(names[0])
    }

    /// Returns the path that the values request; nil if they do not set it.
    private func target(of values: BridgeOptions, from path: SharePath? = nil) throws -> SharePath? {
        if let text = values.string("path") { return try SharePath(text) }
        // An update to null moves to the root.
        let setsFolder = path == nil ? values.has("folder") : values.names.contains("folder")
        guard values.has("name") || setsFolder, let name = values.string("name") ?? path?.names.last else { return nil }
        guard !values.has("folder") || values.string("folder") != nil else {
            throw BridgeError(.configuration, "the folder of \(name) is not a text", remedy: "give its path")
        }
        let old = path?.folder ?? section.listing.patterns.onlyFolder ?? []
        let folder = setsFolder ? values.string("folder") ?? "" : old.joined(separator: "/")
        guard !name.contains("/") else {
            throw BridgeError(.configuration, "the name \"\(name)\" has a slash", remedy: "give the folder as folder")
        }
        return try SharePath(folder.isEmpty ? name : folder + "/" + name)
    }

    /// Returns the present state, if the local object was read from it.
    private func expected(_ path: SharePath, _ request: WriteRequest) throws -> SMBEntry {
        guard let state = try connection.status(of: root + path.names) else {
            throw BridgeError(
                .notFound, "there is no \(path.text)", remedy: "sync before writing",
                location: connection.url.location(path.names))
        }
        let known = KnownObject(request)
        if !state.isDirectory, let size = known.size, size != state.size {
            throw conflict(path, "it has \(state.size) bytes, and had \(size) when it was read")
        }
        if !state.isDirectory, let modified = known.microseconds("modified"), modified != state.modified {
            throw conflict(path, "it was modified since it was read")
        }
        return state
    }

    private func content(_ values: BridgeOptions) throws -> [UInt8]? {
        try values.withValue("content") { value in
            switch value?.tag {
            case nil: return nil
            case .null: return []
            case .bytes: return value.map { Array($0.rawBytes) }
            case .text:
                let text = value.map { Array($0.rawBytes) } ?? []
                guard section.content == .bytes || section.content == .data else {
                    guard !text.starts(with: TextEncoder.utf8Mark) else {
                        throw BridgeError(
                            .configuration,
                            "the text begins with U+FEFF, which would be read back as a byte order mark: remove it")
                    }
                    return try TextEncoder(encoding: section.encoding).encode(text)
                }
                // Data is base64 text if the host's column stores it like that.
                return Base64.decode(String(decoding: text, as: UTF8.self)) ?? text
            default:
                throw BridgeError(.configuration, "the content of a file is neither text nor data")
            }
        }
    }

    /// Returns the byte order mark of a file's text, which the new text has to keep.
    ///
    /// - Throws: ``BridgeError`` for a mark of another encoding than UTF-8.
    private func mark(of path: SharePath, _ state: SMBEntry, for bytes: [UInt8]) throws -> [UInt8] {
        guard section.content == .text, !bytes.isEmpty, state.size > 0 else { return [] }
        let start = try connection.read(root + path.names, offset: 0, limit: 4, expecting: state.version).bytes
        if section.encoding == nil, let encoding = TextDecoder.encoding(ofMarkIn: start) {
            throw BridgeError(
                .unsupported, "\(path.text) is \(encoding), as its byte order mark says, and would become UTF-8",
                remedy: "set encoding, or change the file's encoding", location: connection.url.location(path.names))
        }
        let mark = TextEncoder.mark(in: section.encoding)
        return start.starts(with: mark) ? mark : []
    }

    /// Refuses a content that would not be read back.
    private func checkSize(_ bytes: [UInt8], _ path: SharePath) throws {
        guard section.hasWritableContent, bytes.count > section.maximumContentBytes else { return }
        throw BridgeError(
            .limit,
            "the content of \(path.text) has \(bytes.count) bytes, more than max_content_bytes "
                + "(\(section.maximumContentBytes)): the next sync would read null",
            remedy: "raise max_content_bytes in the section")
    }

    private func put(_ bytes: [UInt8], at path: SharePath, replacing state: SMBEntry?) throws {
        let size = state.map { Int64(clamping: $0.size) }
        try connection.put(bytes, at: root + path.names, through: root + path.temporary, replacing: size) { now in
            guard now?.size == state?.size, now?.modified == state?.modified else {
                throw conflict(path, state == nil ? "it was created meanwhile" : "it was modified meanwhile")
            }
        }
    }

    private func makeFolders(_ names: [String]) throws {
        for depth in names.indices {
            let path = root + names[...depth]
            if try connection.status(of: path) == nil { try connection.makeFolder(path) }
        }
    }

    private func setTimes(_ path: SharePath, _ values: BridgeOptions) throws {
        guard let modified = values.microseconds("modified") else { return }
        try connection.setModified(root + path.names, modified)
    }

    /// Writes the file's present state, as far as one stat returns it; omitted fields stay unchanged.
    private func answer(_ path: SharePath, into writer: RecordBatchWriter) throws {
        guard let entry = try connection.status(of: root + path.names) else { return }
        var record = FileRecord(path: path.names, entry: entry)
        if let captures = section.listing.patterns.captures(of: path.names) {
            record.captures = section.listing.patterns.captureNames.map { (name: $0, value: captures[$0]) }
        }
        record.writePart(to: writer)
    }

    private func conflict(_ path: SharePath, _ why: String) -> BridgeError {
        BridgeError(
            .conflict, "cannot write \(path.text): \(why)", remedy: "sync, then write again",
            location: connection.url.location(path.names))
    }
}

extension BridgeOptions {
    /// Returns a point in time, in microseconds since 1970, from a timestamp or its text.
    func microseconds(_ name: String) -> Int64? {
        withValue(name) { value in
            switch value?.tag {
            case .timestamp: value?.int64
            case .text: value.flatMap { Self.microseconds(of: $0.string) }
            default: nil
            }
        }
    }

    /// Parses `2026-11-21T07:08:08.000000Z`, with any number of decimals, into microseconds; nil for another text.
    private static func microseconds(of text: String) -> Int64? {
        guard text.hasSuffix("Z"), text.utf8.count >= 20 else { return nil }
        return ISODate(text)?.microseconds
    }
}
