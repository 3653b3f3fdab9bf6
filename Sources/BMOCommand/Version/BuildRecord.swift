internal import Foundation

/// What the package of this program says of its build, from `../lib/bmo/build.json` beside the executable.
struct BuildRecord: Decodable {
    /// The version of the package.
    let version: String
    /// The commit of the sources.
    let commit: String
    /// The time of the commit, in RFC 3339.
    let date: String

    /// The record of this program; nil if it was not installed from a package.
    static var own: BuildRecord? {
        let file = executable.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("lib/bmo/build.json")
        return (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(BuildRecord.self, from: $0) }
    }

    /// This program's file, with links resolved.
    static var executable: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }
}
