#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Identifies the file at a path, whatever its name; a file that replaces another one has another identity.
package struct FileIdentity: Equatable, Sendable {
    private let device: dev_t
    private let node: ino_t

    /// Returns nil if the path is not that of a file: it does not exist, or is the address of a server.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(of: status)
    }

    init(of status: stat) {
        device = status.st_dev
        node = status.st_ino
    }
}
