internal import BridgeKit
internal import Glibc

/// The files of one run of a tap: its configuration (with secrets), its catalog and its state.
///
/// By default they are in memory, and the tap inherits their descriptors: nothing remains on disk, however the run
/// ends.
final class TapFiles {
    /// The place of the files.
    enum Storage: String {
        case memory
        /// Files that only this user can read, in a folder that is removed after the run: for a program that starts
        /// another one without passing on its descriptors.
        case folder
    }

    /// The descriptors that the tap has to inherit.
    private(set) var descriptors: [CInt] = []
    private var folder: String?
    private var paths: [String] = []

    /// - Throws: ``BridgeError``.
    init(_ place: Storage) throws {
        // Without proc(5), a descriptor has no path.
        guard place == .folder || access("/proc/self/fd", X_OK) != 0 else { return }
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/bmo-tap-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw BridgeError(.internal, "cannot create a folder in \(parent): \(String(cString: strerror(errno)))")
        }
        folder = String(cString: made)
    }

    /// Creates a file with this text, readable by this user and the tap only, and returns its path.
    ///
    /// - Throws: ``BridgeError``.
    func write(_ text: String, to name: String) throws -> String {
        let path: String
        let descriptor: CInt
        if let folder {
            path = "\(folder)/\(name)"
            descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 { paths.append(path) }
        } else {
            descriptor = Self.fileInMemory(name)
            path = "/proc/self/fd/\(descriptor)"
            if descriptor >= 0 { fchmod(descriptor, 0o600) }
        }
        guard descriptor >= 0 else { throw failure(name, errno) }
        defer { if folder == nil { descriptors.append(descriptor) } else { close(descriptor) } }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(name, errno) }
            bytes = bytes.dropFirst(count)
        }
        return path
    }

    /// Calls memfd_create(2), which Swift's Glibc lacks.
    private static func fileInMemory(_ name: String) -> CInt {
        typealias Create = @convention(c) (UnsafePointer<CChar>, CUnsignedInt) -> CInt
        guard let symbol = dlsym(nil, "memfd_create") else {
            errno = ENOSYS
            return -1
        }
        // MFD_CLOEXEC
        return unsafeBitCast(symbol, to: Create.self)(name, 1)
    }

    private func failure(_ name: String, _ error: CInt) -> BridgeError {
        BridgeError(
            .internal, "the tap's \(name) cannot be written: \(String(cString: strerror(error)))",
            remedy: "check whether memory or the disk of TMPDIR is full")
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
        for path in paths { unlink(path) }
        if let folder { rmdir(folder) }
    }
}
