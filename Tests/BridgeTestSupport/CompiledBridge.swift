internal import Foundation
internal import Synchronization
internal import TestSupport

/// Bridges in C that are compiled when a test needs them, as their authors compile them.
package enum CompiledBridge {
    private static let counting = Mutex<[[String]: (path: String, folder: TemporaryFolder)]>([:])

    /// The arguments of `cc` for a plugin, with every warning as an error.
    package static func arguments(
        _ source: String, to path: String, _ definitions: [String] = [], options: [String] = []
    ) -> [String] {
        [
            "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-g",
            "-I\(PackageFolder.path)/Sources/CBridge/include", "-o", path, source,
        ] + definitions.map { "-D\($0)" } + options
    }

    /// Compiles a plugin.
    package static func compile(
        _ source: String, to path: String, _ definitions: [String] = [], linking libraries: [String] = []
    ) throws {
        let cc = Process()
        cc.executableURL = URL(filePath: "/usr/bin/cc")
        cc.arguments = arguments(source, to: path, definitions, options: libraries)
        try cc.run()
        cc.waitUntilExit()
        guard cc.terminationStatus == 0 else { throw CompilerError(description: "cc cannot compile \(source)") }
    }

    /// The path of Tests/CountingBridge, compiled once for these definitions.
    ///
    /// - Parameter isMended: Whether it ignores the options with which it crashes, fails and blocks.
    package static func counting(_ definitions: [String] = [], isMended: Bool = false) throws -> String {
        try counting.withLock { built in
            let name = definitions + (isMended ? ["mended"] : [])
            if let known = built[name] { return known.path }
            let folder = try TemporaryFolder()
            var source = PackageFolder.path + "/Tests/CountingBridge/counting_bridge.c"
            if isMended {
                var text = try String(contentsOfFile: source, encoding: .utf8)
                for option in ["crash_at", "fail_at", "block_at"] {
                    text = text.replacing("\"\(option)\"", with: "\"no \(option)\"")
                }
                source = try folder.write(text, to: "counting_bridge.c")
            }
            let path = folder.appending("libCountingBridge.so")
            try compile(source, to: path, definitions)
            built[name] = (path, folder)
            return path
        }
    }
}

/// A bridge that does not compile.
package struct CompilerError: Error, CustomStringConvertible {
    package let description: String
}
