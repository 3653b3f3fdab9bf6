import BridgeKit
import CSMBClient
import Glibc
import RecordBatch
import TextFormats

/// Listings made by other processes of this bridge, because libsmbclient runs one call at a time per process.
///
/// A request holds the folders in the member `list` of its section; the reply has one record per folder.
enum ListingRelay {
    /// The section's member, which no configuration can contain.
    static let member = "list"

    /// Returns the request for these folders, below the share.
    static func request(_ folders: [[String]], fileIDs: Bool) -> FetchRequest {
        let section = BridgeOptions { writer in
            writer.member("file_ids", fileIDs)
            writer.key(member)
            writer.array {
                for folder in folders { writer.text(folder.map(ShareURL.percentEncoded).joined(separator: "/")) }
            }
        }
        return FetchRequest(entity: "listing", section: section)
    }

    /// The helper's side: lists the folders of a request.
    final class Source: RecordSource {
        private let share: any Share
        private let folders: [[String]]
        private let fileIDs: Bool

        init(_ section: BridgeOptions, share: any Share) {
            self.share = share
            fileIDs = section.bool("file_ids") ?? true
            folders = section.strings(ListingRelay.member).map { text in
                text.split(separator: "/").compactMap(PercentEncoding.strictlyDecoded)
            }
        }

        func cancel() {}

        func next(into writer: RecordBatchWriter) throws -> Page {
            for folder in folders {
                do throws(SMBFailure) {
                    ListingRelay.write(try share.list(folder, fileIDs: fileIDs), to: writer)
                } catch {
                    // Connection errors are not relayed: the scan will find them with its own connection.
                    let failure = share.confirmed(error)
                    guard failure.isAccess || failure.isAbsence, case .system(let number) = failure.cause,
                        failure.action == .listFolder
                    else { throw share.explain(failure) }
                    writer.object { writer.member("error", Int(number)) }
                }
            }
            return Page(isPageEnd: true, isEnd: true)
        }
    }

    private static func write(_ listing: SMBListing, to writer: RecordBatchWriter) {
        func write(_ entry: SMBEntry) {
            writer.array {
                writer.text(entry.name)
                writer.int64(Int64(bitPattern: entry.size))
                writer.int64(Int64(entry.attributes))
                for time in [entry.modified, entry.created, entry.accessed, entry.changed] {
                    if let time { writer.int64(time) } else { writer.null() }
                }
                writer.int64(Int64(bitPattern: entry.inode))
            }
        }
        writer.object {
            writer.key("entries")
            writer.array { for entry in listing.entries { write(entry) } }
            if let itself = listing.itself {
                writer.key("itself")
                write(itself)
            }
            writer.key("malformed")
            writer.array { for name in listing.malformedNames { writer.text(name) } }
        }
    }

    /// Returns the listing in a record of a reply; nil for any other record.
    static func listing(_ record: BatchValue, of folder: [String]) -> Result<SMBListing, SMBFailure>? {
        if let number = record["error"]?.integer {
            return .failure(SMBFailure(cause: .system(Int32(clamping: number)), action: .listFolder, path: folder))
        }
        guard let entries = record["entries"], entries.tag == .array else { return nil }
        var listing = SMBListing()
        listing.entries.reserveCapacity(entries.count)
        for index in 0..<entries.count {
            guard let entry = entry(entries[index]) else { return nil }
            listing.entries.append(entry)
        }
        listing.itself = record["itself"].flatMap(entry)
        listing.malformedNames = (record["malformed"]?.elements ?? []).map(\.string)
        return .success(listing)
    }

    private static func entry(_ value: BatchValue) -> SMBEntry? {
        guard value.tag == .array, value.count == 8, value[0].tag == .text else { return nil }
        func time(_ index: Int) -> Int64? { value[index].tag == .int64 ? value[index].int64 : nil }
        return SMBEntry(
            name: value[0].string, size: UInt64(bitPattern: value[1].int64),
            attributes: UInt16(truncatingIfNeeded: value[2].int64), modified: time(3), created: time(4),
            accessed: time(5), changed: time(6), inode: UInt64(bitPattern: value[7].int64))
    }
}
