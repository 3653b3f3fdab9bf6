internal import Glibc

/// Which file a path leads to now; a file that replaces another one is another file.
struct FileIdentity: Equatable {
    private let device: UInt
    private let number: UInt

    /// Returns nil where the path leads to no file, such as the address of a server.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
    }
}
