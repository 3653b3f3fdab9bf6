internal import Foundation
internal import Model

/// Finds connectors by name: those of the user, then those that came with bmo.
enum ConnectorCatalog {
    /// A folder with a folder for each connector.
    struct Shelf {
        let folder: String
        let isShipped: Bool
    }

    /// The folders, in order of precedence.
    ///
    /// These are `$XDG_DATA_HOME/bmo/connectors` (by default below `~/.local/share`; source: XDG Base Directory
    /// Specification 0.8), then `../share/bmo/connectors` beside the program, or `Connectors` of the sources that it
    /// was built from.
    static var shelves: [Shelf] {
        let environment = ProcessInfo.processInfo.environment
        let named = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let data = named ?? environment["HOME"].map { $0 + "/.local/share" }
        let own = data.map { Shelf(folder: $0 + "/bmo/connectors", isShipped: false) }
        return [own, shipped].compactMap { $0 }
    }

    private static var shipped: Shelf? {
        var folder = BuildRecord.executable.deletingLastPathComponent()
        let installed = folder.deletingLastPathComponent().appendingPathComponent("share/bmo/connectors").path
        if isFolder(installed) { return Shelf(folder: installed, isShipped: true) }
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let connectors = folder.appendingPathComponent("Connectors").path
            let header = folder.appendingPathComponent("Sources/CBridge/include/bmo_bridge.h").path
            if isFolder(connectors), FileManager.default.fileExists(atPath: header) {
                return Shelf(folder: connectors, isShipped: true)
            }
        }
        return nil
    }

    /// Returns all connectors by name, and what is wrong with those that cannot be read.
    ///
    /// A connector of the user hides one of the same name that came with bmo.
    static func all() -> (entries: [CatalogEntry], faults: [String]) {
        var entries: [String: CatalogEntry] = [:]
        var faults: [String] = []
        for shelf in shelves {
            for (name, file) in files(on: shelf) where entries[name] == nil {
                do {
                    entries[name] = try CatalogEntry(name: name, file: file, isShipped: shelf.isShipped)
                } catch {
                    faults.append("\(error)")
                }
            }
        }
        return (entries.values.sorted { $0.name < $1.name }, faults)
    }

    /// Returns the connector of this name, or the one in a file or folder if the name has a slash.
    ///
    /// - Throws: ``CommandFailure`` with the nearest name.
    static func entry(_ name: String) throws -> CatalogEntry {
        if name.contains("/") {
            let file = isFolder(name) ? URL(fileURLWithPath: name).path + "/bmo.yml" : URL(fileURLWithPath: name).path
            guard FileManager.default.fileExists(atPath: file) else {
                throw CommandFailure(
                    "\(Terminal.printable(name)) is not a connector: name its folder, which has a bmo.yml, or a file",
                    exitCode: CommandFailure.usage)
            }
            return try CatalogEntry(name: Self.name(ofFile: file), file: file, isShipped: false)
        }
        var known: Set<String> = []
        for shelf in shelves {
            let files = files(on: shelf)
            if let file = files[name] { return try CatalogEntry(name: name, file: file, isShipped: shelf.isShipped) }
            known.formUnion(files.keys)
        }
        let hint =
            suggestion(for: name, among: known.sorted(), what: "connectors").map { "; \($0)" }
            ?? "; `bmo connectors` lists them"
        throw CommandFailure(
            "there is no connector \"\(Terminal.printable(name))\"\(hint)", exitCode: CommandFailure.usage)
    }

    /// The connectors on a shelf: `NAME/bmo.yml`, and `NAME.yml` for one without a case.
    private static func files(on shelf: Shelf) -> [String: String] {
        var files: [String: String] = [:]
        for item in (try? FileManager.default.contentsOfDirectory(atPath: shelf.folder)) ?? [] {
            let path = shelf.folder + "/" + item
            if item.hasSuffix(".yml"), item.count > 4, !isFolder(path) {
                files[String(item.dropLast(4))] = files[String(item.dropLast(4))] ?? path
            } else if FileManager.default.fileExists(atPath: path + "/bmo.yml") {
                files[item] = path + "/bmo.yml"
            }
        }
        return files
    }

    private static func name(ofFile file: String) -> String {
        let url = URL(fileURLWithPath: file)
        let base = url.deletingPathExtension().lastPathComponent
        return base == "bmo" ? url.deletingLastPathComponent().lastPathComponent : base
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
