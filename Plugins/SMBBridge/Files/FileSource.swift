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
        var isAsListed = true
        do {
            if section.readsOwners { record.owners = try owners(of: match) }
            if !match.entry.isDirectory, section.content != .none {
                let read = try content(of: match)
                record.content = read.content
                if let version = read.version, !version.agrees(with: match.entry.version) {
                    isAsListed = false
                    record.entry.size = UInt64(max(0, version.size))
                    record.entry.modified = version.modified
                }
            }
        } catch let refusal as Refusal {
            listing.reject(refusal.reason, representation: match.path.joined(separator: "/"), of: match.path)
            return
        }
        record.write(to: writer, content: section.content, fields: fields)
        // The next scan must read a file again that is not in its listed state any more.
        if section.readsFiles, isAsListed { listing.states.wasRead(match) }
    }

    /// The reason why a file cannot become a record.
    private struct Refusal: Error {
        let reason: String
    }

    private func owners(of match: FolderWalk.Match) throws -> Owners {
        do {
            return try listing.share.owners(of: listing.share.url.folder + match.path)
        } catch {
            let failure = listing.share.confirmed(error)
            let explained = listing.share.explain(failure)
            guard failure.isOfFile else { throw explained }
            throw Refusal(reason: explained.message)
        }
    }

    /// The content of a file, nil if the file is too large, and the state in which it was read.
    private typealias Reading = (content: FileRecord.Content?, version: FileVersion?)

    private func content(of match: FolderWalk.Match) throws -> Reading {
        guard section.content == .hash || match.entry.size <= UInt64(section.maximumContentBytes) else {
            warnOfSize(match, match.entry.size)
            return (nil, nil)
        }
        for attempt in 1...FilePaging.attempts {
            do {
                return try read(match, isAgain: attempt > 1)
            } catch let error as SMBFailure {
                if error.isMomentary, attempt < FilePaging.attempts { continue }
                let failure = listing.share.confirmed(error)
                let explained = listing.share.explain(failure)
                guard failure.isOfFile else { throw explained }
                throw Refusal(
                    reason: explained.message + (failure.isMomentary ? " (\(attempt) attempts)" : ""))
            }
        }
        return (nil, nil)
    }

    private func warnOfSize(_ match: FolderWalk.Match, _ size: UInt64) {
        let path = match.path.joined(separator: "/")
        listing.warn("the file \(path) has \(size) bytes, more than max_content_bytes: its content is null")
    }

    /// - Parameter isAgain: Whether the file changed since it was listed, so that its present state counts.
    private func read(_ match: FolderWalk.Match, isAgain: Bool) throws -> Reading {
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
            return (.hash(digits), file.version)
        }
        var bytes: [UInt8] = []
        while let piece = try file.read() {
            // The file may have grown since it was listed.
            guard file.size <= Int64(section.maximumContentBytes) else {
                warnOfSize(match, UInt64(file.size))
                return (nil, file.version)
            }
            bytes += piece
        }
        guard section.content == .text else { return (.bytes(bytes), file.version) }
        return (.text(try text(bytes, of: match)), file.version)
    }

    private func text(_ bytes: [UInt8], of match: FolderWalk.Match) throws -> [UInt8] {
        let path = match.path.joined(separator: "/")
        let decoder = try TextDecoder(encoding: section.encoding)
        do {
            let text = try decoder.decode(bytes)
            try decoder.finish()
            guard decoder.isPassThrough, String(validUTF8: text) == nil else { return text }
            throw Refusal(reason: "the content of \(path) is not UTF-8: set encoding, or content: data")
        } catch let fault as TextDecoder.Fault {
            let encoding = section.encoding ?? "of the encoding of its byte order mark"
            throw Refusal(reason: "the content of \(path) is not \(encoding) at byte \(fault.offset)")
        }
    }
}
