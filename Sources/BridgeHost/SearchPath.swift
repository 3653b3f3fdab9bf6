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

    /// A folder to search.
    public init(_ folder: String, pattern: Pattern = .libraries) {
        self.folder = folder
        self.pattern = pattern
    }

    /// The executable's folder, `../lib/bmo/bridges` next to it, then the folders of `BMO_PLUGIN_PATH` (colons between).
    ///
    /// - Parameters:
    ///   - executable: The host's executable.
    ///   - pluginPath: The value of `BMO_PLUGIN_PATH`, if it is set.
    public static func standard(executable: String, pluginPath: String?) -> [SearchPath] {
        let folder = executable.lastIndex(of: "/").map { String(executable[..<$0]) } ?? "."
        let named = (pluginPath ?? "").split(separator: ":").map { SearchPath(String($0)) }
        return [SearchPath(folder, pattern: .bridges), SearchPath("\(folder)/../lib/bmo/bridges")] + named
    }

    /// The files that may be plugins, in the order of their names, with links and `..` resolved.
    func candidates() -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if matches(name) { names.append(name) }
        }
        return names.sorted().compactMap { name in
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
