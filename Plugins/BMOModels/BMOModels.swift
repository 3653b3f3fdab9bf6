import Foundation
import PackagePlugin

/// Generates the Swift types of a target's entities before each build, from `bmo.yml` in the target's folder or, without
/// one there, in the package's.
///
/// ```swift
/// .executableTarget(
///     name: "App", dependencies: [.product(name: "BMO", package: "bmo")],
///     plugins: [.plugin(name: "BMOModels", package: "bmo")])
/// ```
@main
struct BMOModels: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let folders = [target.directoryURL, context.package.directoryURL]
        let files = folders.map { $0.appending(path: "bmo.yml") }
        guard let file = files.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            Diagnostics.error("BMOModels: neither \(files[0].path) nor \(files[1].path) exists")
            return []
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "Entities.swift")
        return [
            .buildCommand(
                displayName: "Generating the types of \(file.lastPathComponent)",
                executable: try context.tool(named: "bmo-models").url, arguments: [file.path, output.path],
                inputFiles: [file], outputFiles: [output])
        ]
    }
}
