internal import Glibc

/// Identifies the file at a path; a file that replaces another one has another identity.
struct FileIdentity: Equatable {
    private let device: UInt
    private let number: UInt

    /// Returns nil if the path is not that of a file, such as the address of a server.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
    }
}
