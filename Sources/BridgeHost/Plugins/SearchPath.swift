#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A folder to search for plugins.
public struct SearchPath: Sendable, Equatable {
    /// The files of a folder that are inspected.
    public enum Pattern: Sendable {
        /// Every `*.so`: for a folder of plugins.
        case libraries
        /// Only `lib*Bridge.so`: for a folder that also holds other libraries, such as a build folder.
        case bridges
    }

    /// The folder's path.
    public var folder: String
    /// The files to inspect.
    public var pattern: Pattern
    /// The origin of its plugins.
    public var origin: Origin

    /// The origin of the plugins in a folder.
    public enum Origin: Sendable {
        /// Shipped with the program.
        case shipped
        /// Installed by `bmo plugins install`, each pinned in a lock file.
        case installed
        /// In a folder that the user named.
        case named
    }

    /// Creates a search path.
    public init(_ folder: String, pattern: Pattern = .libraries, origin: Origin = .named) {
        self.folder = folder
        self.pattern = pattern
        self.origin = origin
    }

    /// The folder of `bmo plugins install`: `$XDG_DATA_HOME/bmo/bridges`, by default `~/.local/share/bmo/bridges`.
    ///
    /// Source: XDG Base Directory Specification 0.8.
    public static var installed: SearchPath? {
        let named = getenv("XDG_DATA_HOME").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = getenv("HOME").map { String(cString: $0) + "/.local/share" }
        return (named ?? home).map { SearchPath("\($0)/bmo/bridges", origin: .installed) }
    }

    /// Returns the standard search paths, in order of precedence.
    ///
    /// These are the executable's folder, `../lib/bmo/bridges` next to it, the folders of `BMO_PLUGIN_PATH` (separated
    /// by colons), then the user's installed plugins. A folder named for this run takes precedence over installed
    /// plugins, so that an author can try a new build.
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
        return shipped + named + (installed.map { [$0] } ?? [])
    }

    /// Returns the files that may be plugins, sorted by name, with links and `..` resolved.
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
