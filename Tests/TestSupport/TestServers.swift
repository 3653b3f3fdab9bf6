import Foundation

/// The programs of servers that tests start: the files of Tests/Servers, which a person can run by hand as well.
package enum TestServers {
    /// Returns the path of a file.
    package static func path(_ name: String) -> String { "\(PackageFolder.path)/Tests/Servers/\(name)" }

    /// Returns the text of a file; empty, which no server starts from, if it cannot be read.
    package static func text(_ name: String) -> String {
        (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
    }
}
