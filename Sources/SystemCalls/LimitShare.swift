internal import CAtomicWord

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The part of a bridge's limits that this process may use, in a file that the host and the bridge both map.
///
/// The host writes the part, and the bridge the number of its running requests. Both may be one process or two, and
/// neither waits for the other.
///
/// ```swift
/// let share = try LimitShare.make()
/// share.set(divisor: 4, until: LimitShare.now + 30)       // the host
/// guard try LimitShare(path: share.path).divisor > 0 else { return }  // the bridge
/// ```
package final class LimitShare: @unchecked Sendable {
    // Sendable because the address never changes, and access to the words behind it is atomic.
    private let memory: UnsafeMutableRawPointer
    /// The file's path.
    package let path: String
    private let isOwner: Bool

    private static let size = 4096
    /// The largest divisor.
    package static let most = 0xFFFF

    /// Creates a file, which is removed when the object is released; no part is granted yet.
    package static func make() throws(AtomicFile.Failure) -> LimitShare {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/bmo-limits-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw AtomicFile.Failure(number: errno) }
        defer { close(file) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // A page without room on the disk would end the process at the first write (SIGBUS).
        #if os(Linux)
        let failure = posix_fallocate(file, 0, off_t(size))
        #else
        let failure = ftruncate(file, off_t(size)) == 0 ? 0 : errno
        #endif
        guard failure == 0 else {
            unlink(path)
            throw AtomicFile.Failure(number: failure)
        }
        return try LimitShare(path, file, isOwner: true)
    }

    /// Maps the file at `path`, which another object made.
    package convenience init(path: String) throws(AtomicFile.Failure) {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw AtomicFile.Failure(number: errno) }
        defer { close(file) }
        var status = stat()
        // A page beyond the end of a file must not be read.
        guard fstat(file, &status) == 0, status.st_size == off_t(Self.size) else {
            throw AtomicFile.Failure(number: EINVAL)
        }
        try self.init(path, file, isOwner: false)
    }

    private init(_ path: String, _ file: CInt, isOwner: Bool) throws(AtomicFile.Failure) {
        let address = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard let address, address != MAP_FAILED else { throw AtomicFile.Failure(number: errno) }
        memory = address
        self.path = path
        self.isOwner = isOwner
    }

    deinit {
        munmap(memory, Self.size)
        if isOwner { unlink(path) }
    }

    private func word(_ index: Int) -> UnsafeMutablePointer<UInt64> {
        (memory + 8 * index).assumingMemoryBound(to: UInt64.self)
    }

    /// Seconds since the system's start, its sleep included: a part ends while the system sleeps, too.
    package static var now: Double {
        var time = timespec()
        #if os(Linux)
        clock_gettime(CLOCK_BOOTTIME, &time)
        #else
        // Darwin's clock of this name runs while the system sleeps.
        clock_gettime(CLOCK_MONOTONIC, &time)
        #endif
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// By how many the limits are divided at present; 0 if no request may begin.
    package var divisor: Int {
        let value = bmo_atomic_load(word(0))
        let end = Double(value & 0xFFFF_FFFF_FFFF) / 1000
        return Self.now < end ? Int(value >> 48) : 0
    }

    /// Grants a part until an instant of ``now``.
    package func set(divisor: Int, until end: Double) {
        // Divisor and end are one word, so that the bridge never sees one without the other.
        let milliseconds = UInt64(max(0, min(end * 1000, Double(1 << 47))))
        bmo_atomic_store(word(0), UInt64(max(0, min(divisor, Self.most))) << 48 | milliseconds)
    }

    /// The number of the bridge's running requests.
    package var running: Int {
        get { Int(bmo_atomic_load(word(1))) }
        set { bmo_atomic_store(word(1), UInt64(max(0, newValue))) }
    }
}
