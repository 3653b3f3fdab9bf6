import CSMBClient
import Glibc

@testable import SMBBridge

extension SMBConnection {
    /// Runs `body` while this connection has a file open that others may not open, or may only read.
    func holding(
        _ path: [String], sharing mode: smbc_share_mode = SMBC_SHAREMODE_DENY_ALL, _ body: () throws -> Void
    ) throws {
        let url = options.url.encoded(path)
        try connect()
        // The handle crosses the library's lock as a number.
        let handle = try withContext { context throws(SMBFailure) -> UInt in
            smbc_setOptionOpenShareMode(context, mode)
            let opened = url.withCString { smbc_getFunctionOpen(context)?(context, $0, O_RDWR, 0) }
            guard let opened else { throw SMBFailure(cause: .system(errno), action: .readFile, path: path) }
            return UInt(bitPattern: opened)
        }
        defer {
            try? withContext { context throws(SMBFailure) in
                if let file = OpaquePointer(bitPattern: handle) { _ = smbc_getFunctionClose(context)?(context, file) }
            }
        }
        try body()
    }
}
