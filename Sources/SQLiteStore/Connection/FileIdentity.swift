internal import StoreContract
internal import Glibc

/// The identity of the file that a path leads to, independent of its name.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let node: ino_t

    /// Returns nil if the file does not exist.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        node = status.st_ino
    }
}
