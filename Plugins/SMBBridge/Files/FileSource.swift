internal import TextFormats
import BridgeKit
import Digests
import RecordBatch
import RowFormats

/// A scan whose records are files.
final class FileSource: RecordSource {
    private let listing: FileListing
    private let section: FileSection
    private let fields: FileFields
    private let pageSize: Int
    private var failure: (any Error)?
    /// The path of the folder listed last, which all its records contain; nil before the first one.
    private var folder: String?

    init(listing: FileListing, section: FileSection, fields: FileFields, pageSize: Int) {
        self.fields = fields
        self.listing = listing
        self.section = section
        self.pageSize = pageSize
    }

    func cancel() { listing.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        // The records of a failed call are lost, so this scan must not continue after them.
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
        while writer.recordCount < pageSize, writer.byteCount < FilePaging.batchBytes, folders < FilePaging.folders,
            listing.rejectedCount < pageSize
        {
            switch try listing.next() {
            case .match(let match) where listing.states.isUnchanged(match): listing.skipUnchanged(match)
            case .match(let match): try write(match, into: writer)
            case .listed:
                folders += 1
                folder = nil
            case .end: return page(isEnd: true)
            }
        }
        return page(isEnd: false)
    }

    private func page(isEnd: Bool) -> Page {
        listing.page(cursor: listing.cursor(), isEnd: isEnd, location: listing.share.url.location([]))
    }

    private func write(_ match: FolderWalk.Match, into writer: RecordBatchWriter) throws {
        let folder = self.folder ?? match.folder.joined(separator: "/")
        self.folder = folder
        var record = FileRecord(match, in: folder, captureNames: listing.options.patterns.captureNames)
        do {
            if section.readsOwners { record.owners = try owners(of: match) }
            if !match.entry.isDirectory, section.content != .none { record.content = try content(of: match) }
        } catch let refusal as Refusal {
            listing.reject(refusal.reason, representation: match.path.joined(separator: "/"), of: match.path)
            return
        }
        record.write(to: writer, content: section.content, fields: fields)
        if section.content != .none || section.readsOwners { listing.states.wasRead(match) }
    }

    /// The reason why a file cannot become a record.
    private struct Refusal: Error {
        let reason: String
    }

    private func owners(of match: FolderWalk.Match) throws -> Owners {
        do {
            return try listing.share.owners(of: listing.share.url.folder + match.path)
        } catch {
            let explained = listing.share.explain(error)
            guard error.isOfFile else { throw explained }
            throw Refusal(reason: explained.message)
        }
    }

    private func content(of match: FolderWalk.Match) throws -> FileRecord.Content? {
        let path = match.path.joined(separator: "/")
        guard section.content == .hash || match.entry.size <= UInt64(section.maximumContentBytes) else {
            listing.warn(
                "the file \(path) has \(match.entry.size) bytes, more than max_content_bytes: its content is null")
            return nil
        }
        for attempt in 1...FilePaging.attempts {
            do {
                return try read(match, isAgain: attempt > 1)
            } catch let failure as SMBFailure {
                if failure.isMomentary, attempt < FilePaging.attempts { continue }
                let explained = listing.share.explain(failure)
                guard failure.isOfFile else { throw explained }
                throw Refusal(
                    reason: explained.message + (failure.isMomentary ? " (\(attempt) attempts)" : ""))
            }
        }
        return nil
    }

    /// - Parameter isAgain: Whether the file changed since it was listed, so that its present state counts.
    private func read(_ match: FolderWalk.Match, isAgain: Bool) throws -> FileRecord.Content {
        let file = ShareFile(
            share: listing.share, path: listing.share.url.folder + match.path,
            version: isAgain ? nil : match.entry.version)
        if section.content == .hash {
            let hash = MessageDigest(.sha256)
            while let piece = try file.read() {
                try listing.checkCancelled()
                hash.add(piece)
            }
            let digits = hash.hexadecimal()
            guard !digits.isEmpty else { throw BridgeError(.internal, "libcrypto cannot compute a SHA-256") }
            return .hash(digits)
        }
        var bytes: [UInt8] = []
        while bytes.count <= section.maximumContentBytes, let piece = try file.read() { bytes += piece }
        return section.content == .text ? .text(try text(bytes)) : .bytes(bytes)
    }

    private func text(_ bytes: [UInt8]) throws -> [UInt8] {
        let decoder = try TextDecoder(encoding: section.encoding)
        do {
            let text = try decoder.decode(bytes)
            try decoder.finish()
            guard decoder.isPassThrough, String(validUTF8: text) == nil else { return text }
            throw Refusal(reason: "the content is not UTF-8: set encoding, or content: data")
        } catch let fault as TextDecoder.Fault {
            throw Refusal(
                reason:
                    "the content is not \(section.encoding ?? "of the encoding of its byte order mark") at byte \(fault.offset)"
            )
        }
    }
}
