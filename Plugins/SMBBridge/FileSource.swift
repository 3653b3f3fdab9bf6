import BridgeKit
import CSMBClient
import RecordBatch

/// A walk whose records are files.
final class FileSource: RecordSource {
    private let listing: FileListing
    private let section: FileSection
    private let pageSize: Int
    private var failure: (any Error)?

    init(listing: FileListing, section: FileSection, pageSize: Int) {
        self.listing = listing
        self.section = section
        self.pageSize = pageSize
    }

    func cancel() { listing.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        // The records of a failed call are lost, so this walk must not go on behind them.
        if let failure { throw failure }
        do {
            return try advance(writer)
        } catch {
            failure = error
            throw error
        }
    }

    private func advance(_ writer: RecordBatchWriter) throws -> Page {
        var folders = 0
        while writer.recordCount < pageSize, writer.byteCount < Paging.batchBytes, folders < Paging.folders,
            listing.rejectedCount < pageSize
        {
            switch try listing.next() {
            case .match(let match): try write(match, into: writer)
            case .listed: folders += 1
            case .end: return page(isEnd: true)
            }
        }
        return page(isEnd: false)
    }

    private func page(isEnd: Bool) -> Page {
        listing.page(cursor: listing.cursor(), isEnd: isEnd, location: listing.url.location([]))
    }

    private func write(_ match: FolderWalk.Match, into writer: RecordBatchWriter) throws {
        let path = match.path.joined(separator: "/")
        let content: [UInt8]?
        do {
            content = try self.content(of: match, path: path)
        } catch let refusal as Refusal {
            listing.reject(refusal.reason, representation: path)
            return
        }
        let entry = match.entry
        writer.object {
            writer.key("path")
            writer.text(path)
            writer.key("name")
            writer.text(entry.name)
            writer.key("folder")
            writer.text(match.folder.joined(separator: "/"))
            writer.key("extension")
            writer.text(entry.name.fileExtension)
            writer.member("size", entry.size)
            writer.member("modified", microseconds: entry.modified)
            writer.member("created", microseconds: entry.created)
            writer.member("accessed", microseconds: entry.accessed)
            writer.member("changed", microseconds: entry.changed)
            writer.member("is_directory", entry.isDirectory)
            writer.member("hidden", entry.has(SMBC_DOS_MODE_HIDDEN))
            writer.member("readonly", entry.has(SMBC_DOS_MODE_READONLY))
            writer.member("system", entry.has(SMBC_DOS_MODE_SYSTEM))
            writer.member("archive", entry.has(SMBC_DOS_MODE_ARCHIVE))
            writer.member("inode", entry.inode)
            for (name, value) in zip(listing.options.pattern.captureNames, match.captures) {
                writer.key(name)
                writer.text(value)
            }
            guard section.content != .none else { return }
            writer.key("content")
            guard let content else { return writer.null() }
            content.withUnsafeBytes { section.content == .text ? writer.text(utf8: $0) : writer.bytes($0) }
        }
    }

    /// Why a file cannot become a record.
    private struct Refusal: Error {
        let reason: String
    }

    private func content(of match: FolderWalk.Match, path: String) throws -> [UInt8]? {
        guard section.content != .none, !match.entry.isDirectory else { return nil }
        guard match.entry.size <= UInt64(section.maximumContentBytes) else {
            listing.warn(
                "the file \(path) has \(match.entry.size) bytes, more than max_content_bytes: its content is null")
            return nil
        }
        let bytes: [UInt8]
        do {
            bytes = try listing.connection.read(
                listing.url.folder + match.path, limit: section.maximumContentBytes, expecting: match.entry.version
            ).bytes
        } catch {
            let explained = listing.connection.explain(error)
            switch explained.code {
            case .permission, .notFound, .conflict, .configuration, .remote: throw Refusal(reason: explained.message)
            default: throw explained
            }
        }
        return section.content == .text ? try text(bytes) : bytes
    }

    private func text(_ bytes: [UInt8]) throws -> [UInt8] {
        let decoder = try TextDecoder(encoding: section.encoding)
        do {
            let text = try decoder.decode(bytes)
            try decoder.finish()
            guard decoder.isPassThrough, String(validating: text, as: UTF8.self) == nil else { return text }
            throw Refusal(reason: "the content is not UTF-8: set encoding, or content: bytes")
        } catch let fault as TextDecoder.Fault {
            throw Refusal(reason: "the content is not \(section.encoding) at byte \(fault.offset)")
        }
    }
}

/// How much one call of a source gives.
enum Paging {
    static let batchBytes = 1 << 20
    /// Folders listed in one call: also a walk that finds nothing shows that it lives.
    static let folders = 200
}

extension String {
    /// What follows the last dot; empty where there is none or the name begins with it.
    fileprivate var fileExtension: String {
        guard let dot = lastIndex(of: "."), dot != startIndex else { return "" }
        return String(self[index(after: dot)...])
    }
}

extension RecordBatchWriter {
    fileprivate func member(_ name: String, microseconds: Int64?) {
        key(name)
        if let microseconds { timestamp(microseconds: microseconds) } else { null() }
    }

    fileprivate func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// An integer; a decimal where it is too large for one.
    fileprivate func member(_ name: String, _ value: UInt64) {
        key(name)
        if let value = Int64(exactly: value) { int64(value) } else { decimal(String(value)) }
    }
}
