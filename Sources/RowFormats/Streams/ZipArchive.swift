import BridgeKit
import CZip

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The members of a zip archive, read through libzip without a copy of the archive.
final class ZipArchive {
    struct Member: Equatable {
        let index: UInt64
        /// The path with slashes, as in the archive.
        let name: String
        let size: UInt64
        let isEncrypted: Bool
    }

    private let file: RandomAccess
    private let archive: OpaquePointer

    /// - Throws: ``FileFault`` for a file that is not an archive, and what the file throws.
    init(_ file: any ByteFile) throws {
        let random = try RandomAccess(file)
        self.file = random
        var error = zip_error_t()
        zip_error_init(&error)
        defer { zip_error_fini(&error) }
        let user = Unmanaged.passUnretained(random).toOpaque()
        guard let source = zip_source_function_create(RandomAccess.callback, user, &error) else {
            throw BridgeError(.internal, "libzip has no memory")
        }
        guard let archive = zip_open_from_source(source, Int32(ZIP_RDONLY), &error) else {
            zip_source_free(source)
            if let failure = random.failure { throw failure }
            throw FileFault(
                reason: "is not a zip archive that can be read: \(String(cString: zip_error_strerror(&error)))")
        }
        self.archive = archive
    }

    deinit { zip_discard(archive) }

    /// Returns the archive's files in order, without folders.
    func members() throws -> [Member] {
        let count = zip_get_num_entries(archive, 0)
        var members: [Member] = []
        for index in 0..<UInt64(max(count, 0)) {
            var status = zip_stat_t()
            zip_stat_init(&status)
            guard zip_stat_index(archive, index, 0, &status) == 0, let name = status.name else {
                throw FileFault(reason: "has a broken directory: \(message)")
            }
            let text = String(cString: name)
            if text.hasSuffix("/") { continue }
            members.append(
                Member(index: index, name: text, size: status.size, isEncrypted: status.encryption_method != 0))
        }
        return members
    }

    /// Opens the content of a member.
    func open(_ member: Member) throws -> any ByteStream {
        guard !member.isEncrypted else {
            throw FileFault(reason: "is encrypted", remedy: "unpack the archive, or exclude the member with members")
        }
        guard let opened = zip_fopen_index(archive, member.index, 0) else {
            if let failure = file.failure { throw failure }
            throw FileFault(reason: "has the member \(member.name), which cannot be read: \(message)")
        }
        return MemberStream(archive: self, member: member, handle: opened)
    }

    private var message: String { String(cString: zip_strerror(archive)) }

    /// A member's content, which keeps its archive open.
    private final class MemberStream: ByteStream {
        private let archive: ZipArchive
        private let member: Member
        private let handle: OpaquePointer

        init(archive: ZipArchive, member: Member, handle: OpaquePointer) {
            self.archive = archive
            self.member = member
            self.handle = handle
        }

        deinit { zip_fclose(handle) }

        func read() throws -> [UInt8]? {
            var got: zip_int64_t = 0
            // The size in the directory may be wrong; the rest then follows in another piece.
            let room = max(1, Int(min(UInt64(GzipStream.pieceBytes), member.size)))
            let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                got = zip_fread(handle, buffer.baseAddress, zip_uint64_t(buffer.count))
                count = max(0, Int(got))
            }
            guard got >= 0 else {
                if let failure = archive.file.failure { throw failure }
                let message = String(cString: zip_file_strerror(handle))
                throw FileFault(reason: "has the member \(member.name), which cannot be read: \(message)")
            }
            return bytes.isEmpty ? nil : bytes
        }
    }
}

/// The file in the form that libzip reads: small pieces at random offsets, so it keeps two windows.
private final class RandomAccess {
    static let windowBytes: Int64 = 1 << 20

    let file: any ByteFile
    let size: Int64
    /// The file's error, which libzip reports only as a number.
    private(set) var failure: (any Error)?
    private var windows: [(start: Int64, bytes: [UInt8])] = []
    private var position: Int64 = 0

    init(_ file: any ByteFile) throws {
        self.file = file
        _ = try file.peek()
        size = file.size
    }

    private func read(into target: UnsafeMutableRawPointer, count: Int) -> Int? {
        var done = 0
        while done < count, position < size {
            guard let window = window(at: position) else { return nil }
            let start = Int(position - window.start)
            let length = min(count - done, window.bytes.count - start)
            guard length > 0 else { break }
            window.bytes.withUnsafeBytes { source in
                if let base = source.baseAddress { memcpy(target + done, base + start, length) }
            }
            done += length
            position += Int64(length)
        }
        return done
    }

    private func window(at position: Int64) -> (start: Int64, bytes: [UInt8])? {
        if let known = windows.first(where: { $0.start <= position && position < $0.start + Int64($0.bytes.count) }) {
            return known
        }
        let start = position / Self.windowBytes * Self.windowBytes
        do {
            let window = (start: start, bytes: try file.read(at: start, limit: Int(Self.windowBytes)))
            if windows.count > 1 { windows.removeFirst() }
            windows.append(window)
            return window
        } catch {
            failure = error
            return nil
        }
    }

    static let callback: zip_source_callback = { user, data, length, command in
        guard let user else { return -1 }
        let access = Unmanaged<RandomAccess>.fromOpaque(user).takeUnretainedValue()
        switch command {
        case ZIP_SOURCE_OPEN:
            access.position = 0
            return 0
        case ZIP_SOURCE_READ:
            guard let data, let count = access.read(into: data, count: Int(length)) else { return -1 }
            return zip_int64_t(count)
        case ZIP_SOURCE_CLOSE, ZIP_SOURCE_FREE: return 0
        case ZIP_SOURCE_STAT:
            guard let data, length >= MemoryLayout<zip_stat_t>.size else { return -1 }
            let status = data.assumingMemoryBound(to: zip_stat_t.self)
            zip_stat_init(status)
            status.pointee.valid = zip_uint64_t(ZIP_STAT_SIZE)
            status.pointee.size = zip_uint64_t(access.size)
            return zip_int64_t(MemoryLayout<zip_stat_t>.size)
        case ZIP_SOURCE_ERROR:
            guard let data, length >= 2 * MemoryLayout<Int32>.size else { return -1 }
            data.assumingMemoryBound(to: Int32.self)[0] = Int32(ZIP_ER_READ)
            data.assumingMemoryBound(to: Int32.self)[1] = EIO
            return zip_int64_t(2 * MemoryLayout<Int32>.size)
        case ZIP_SOURCE_SEEK:
            guard let data, length >= MemoryLayout<zip_source_args_seek_t>.size else { return -1 }
            let seek = data.assumingMemoryBound(to: zip_source_args_seek_t.self).pointee
            let base: Int64 =
                switch seek.whence {
                case SEEK_SET: 0
                case SEEK_CUR: access.position
                default: access.size
                }
            let (target, overflow) = base.addingReportingOverflow(seek.offset)
            guard !overflow, (0...access.size).contains(target) else { return -1 }
            access.position = target
            return 0
        case ZIP_SOURCE_TELL: return access.position
        case ZIP_SOURCE_SUPPORTS:
            return [
                ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS,
            ].reduce(0) { $0 | (1 << zip_int64_t($1.rawValue)) }
        default: return -1
        }
    }
}
