internal import Glibc

/// A folder that is searched for plugins.
public struct SearchPath: Sendable, Equatable {
    /// Which files of a folder are looked at.
    public enum Pattern: Sendable {
        /// Every `*.so`: a folder for plugins.
        case libraries
        /// Only `lib*Bridge.so`: a folder that holds other libraries too, as a build folder does.
        case bridges
    }

    /// The folder.
    public var folder: String
    /// Which of its files are looked at.
    public var pattern: Pattern
    /// Where its plugins come from.
    public var origin: Origin

    /// Who put the plugins of a folder there.
    public enum Origin: Sendable {
        /// They came with the program.
        case shipped
        /// `bmo plugins install` did: each is pinned in a lock file.
        case installed
        /// The user named the folder.
        case named
    }

    /// A folder to search.
    public init(_ folder: String, pattern: Pattern = .libraries, origin: Origin = .named) {
        self.folder = folder
        self.pattern = pattern
        self.origin = origin
    }

    /// Where `bmo plugins install` puts plugins: `$XDG_DATA_HOME/bmo/bridges`, which is `~/.local/share/bmo/bridges` by
    /// default (XDG Base Directory Specification 0.8).
    public static var installed: SearchPath? {
        let named = getenv("XDG_DATA_HOME").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = getenv("HOME").map { String(cString: $0) + "/.local/share" }
        return (named ?? home).map { SearchPath("\($0)/bmo/bridges", origin: .installed) }
    }

    /// The executable's folder, `../lib/bmo/bridges` next to it, the user's installed ones, then the folders of
    /// `BMO_PLUGIN_PATH` (colons between).
    ///
    /// - Parameters:
    ///   - executable: The host's executable.
    ///   - pluginPath: The value of `BMO_PLUGIN_PATH`, if it is set.
    public static func standard(executable: String, pluginPath: String?) -> [SearchPath] {
        let folder = executable.lastIndex(of: "/").map { String(executable[..<$0]) } ?? "."
        let named = (pluginPath ?? "").split(separator: ":").map { SearchPath(String($0)) }
        let shipped = [
            SearchPath(folder, pattern: .bridges, origin: .shipped),
            SearchPath("\(folder)/../lib/bmo/bridges", origin: .shipped),
        ]
        return shipped + (installed.map { [$0] } ?? []) + named
    }

    /// The files that may be plugins, in the order of their names, with links and `..` resolved.
    func candidates() -> [String] {
        let names = FolderListing.names(in: folder) ?? []
        return names.filter(matches).sorted().compactMap { name in
            guard let resolved = realpath("\(folder)/\(name)", nil) else { return nil }
            defer { free(resolved) }
            return String(cString: resolved)
        }
    }

    private func matches(_ name: String) -> Bool {
        switch pattern {
        case .libraries: name.hasSuffix(".so")
        case .bridges: name.hasPrefix("lib") && name.hasSuffix("Bridge.so")
        }
    }
}
