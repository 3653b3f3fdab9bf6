internal import Foundation

/// A failure with an exit code.
struct CommandFailure: Error, CustomStringConvertible {
    /// The exit code of a failed operation.
    static let failed: Int32 = 1
    /// The exit code of an error in the command line or the configuration.
    static let usage: Int32 = 2
    let message: String
    let exitCode: Int32

    init(_ message: String, exitCode: Int32 = CommandFailure.failed) {
        self.message = message
        self.exitCode = exitCode
    }

    /// Creates the failure for a file that is not written because there is one, or a folder.
    init(existing path: String) {
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        let words = isFolder.boolValue ? "is a folder; name a file in it" : "already exists; --force replaces it"
        self.init("\(path) \(words)", exitCode: CommandFailure.usage)
    }

    /// Creates the failure for a file that cannot be written.
    init(unwritable path: String, _ error: any Error) {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
        let reason =
            switch (cause.domain, cause.code) {
            case (NSPOSIXErrorDomain, let code): String(cString: strerror(CInt(truncatingIfNeeded: code)))
            case (NSCocoaErrorDomain, CocoaError.fileNoSuchFile.rawValue),
                (NSCocoaErrorDomain, CocoaError.fileReadNoSuchFile.rawValue):
                "its folder does not exist"
            default: cause.localizedDescription
            }
        self.init("\(path) cannot be written: \(reason); check that its folder exists and can be written")
    }

    var description: String { message }
}
