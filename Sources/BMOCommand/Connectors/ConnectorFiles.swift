internal import AirbyteManifest
internal import CZip
internal import Foundation

/// Reads the texts of an Airbyte connector: one manifest, a folder, or a wheel (a zip archive, PEP 427).
enum ConnectorFiles {
    /// A schema has some kilobytes, a manifest at most a few megabytes.
    private static let maxBytes = 16 << 20
    /// The limit of all texts together.
    private static let maxTotal = 64 << 20
    /// A connector has some hundred files.
    private static let maxFiles = 5000

    /// Returns the texts by path, and the connector's name.
    ///
    /// - Throws: ``CommandFailure`` for what cannot be read.
    static func read(_ path: String) throws -> (files: [String: String], name: String) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw CommandFailure(
                "\(path) does not exist; name a manifest.yaml, a connector's folder or its wheel",
                exitCode: CommandFailure.usage)
        }
        if isFolder.boolValue { return (try folder(path), name(ofFolder: path)) }
        let file = URL(fileURLWithPath: path).lastPathComponent
        if file.hasSuffix(".whl") || file.hasSuffix(".zip") { return (try archive(path), name(ofWheel: file)) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var files: [String: String] = [:]
        if ["manifest.yaml", "manifest.yml"].contains(file) {
            // Only what belongs to a manifest: it may lie in a folder with other things.
            for name in ["spec.yaml", "spec.yml", "spec.json"] where isRegular(folder + "/" + name) {
                files[name] = try text(folder + "/" + name)
            }
            for (inner, text) in try self.folder(folder + "/schemas") { files["schemas/" + inner] = text }
        }
        files[file] = try text(URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        return (files, file.hasPrefix("manifest.") ? name(ofFolder: folder) : String(file.prefix { $0 != "." }))
    }

    private static func isWanted(_ path: String) -> Bool {
        [".yaml", ".yml", ".json"].contains { path.hasSuffix($0) } && !path.contains("_tests/")
            && !path.contains("node_modules/")
    }

    /// Whether a path is that of a file, and not of a folder, a link, a pipe or a device.
    private static func isRegular(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeRegular
    }

    /// Reads a regular file of limited size.
    static func text(_ path: String) throws -> String {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64
        guard isRegular(path), let size, size <= UInt64(maxBytes),
            let data = FileManager.default.contents(atPath: path),
            data.count <= maxBytes, let text = String(data: data, encoding: .utf8)
        else {
            throw CommandFailure(
                "\(path) cannot be read: it is not a regular file, is larger than 16 MiB, is not UTF-8, or is not readable"
            )
        }
        return text
    }

    private static func folder(_ path: String) throws -> [String: String] {
        var files: [String: String] = [:]
        var total = 0
        let enumerator = FileManager.default.enumerator(atPath: path)
        while let inner = enumerator?.nextObject() as? String {
            // Deeper files belong to something else, such as a checkout around the connector.
            if inner.split(separator: "/").count > 4 {
                enumerator?.skipDescendants()
                continue
            }
            guard isWanted(inner), isRegular(path + "/" + inner) else { continue }
            let text = try text(path + "/" + inner)
            total += text.utf8.count
            try check(files.count, total, path)
            files[inner] = text
        }
        return files
    }

    /// - Throws: ``CommandFailure`` if there are too many files, or they are too large together.
    private static func check(_ count: Int, _ total: Int, _ path: String) throws {
        guard count < maxFiles, total <= maxTotal else {
            throw CommandFailure(
                "\(path) has more than \(maxFiles) files or 64 MiB of YAML and JSON; name the manifest alone")
        }
    }

    private static func archive(_ path: String) throws -> [String: String] {
        var code: CInt = 0
        guard let archive = zip_open(path, CInt(ZIP_RDONLY), &code) else {
            var error = zip_error_t()
            zip_error_init_with_code(&error, code)
            defer { zip_error_fini(&error) }
            throw CommandFailure(
                "\(path) is not a wheel that can be read: \(String(cString: zip_error_strerror(&error)))")
        }
        defer { zip_discard(archive) }
        var files: [String: String] = [:]
        var total = 0
        for index in 0..<UInt64(max(zip_get_num_entries(archive, 0), 0)) {
            var status = zip_stat_t()
            zip_stat_init(&status)
            guard zip_stat_index(archive, index, 0, &status) == 0, let pointer = status.name else { continue }
            let name = String(cString: pointer)
            guard isWanted(name) else { continue }
            guard status.size <= UInt64(maxBytes) else {
                throw CommandFailure("\(path): \(name) is larger than 16 MiB; unpack the archive and name the manifest")
            }
            total += Int(status.size)
            try check(files.count, total, path)
            guard let file = zip_fopen_index(archive, index, 0) else {
                throw CommandFailure("\(path): \(name) cannot be read: \(String(cString: zip_strerror(archive)))")
            }
            defer { zip_fclose(file) }
            var bytes = [UInt8](repeating: 0, count: Int(status.size))
            var filled = 0
            while filled < bytes.count {
                let count = bytes.withUnsafeMutableBytes { buffer in
                    zip_fread(file, buffer.baseAddress.map { $0 + filled }, UInt64(buffer.count - filled))
                }
                guard count > 0 else { break }
                filled += Int(count)
            }
            guard filled == bytes.count else {
                throw CommandFailure("\(path): \(name) cannot be read: \(String(cString: zip_file_strerror(file)))")
            }
            files[name] = String(decoding: bytes, as: UTF8.self)
        }
        return files
    }

    /// The name in `airbyte_source_NAME-1.0-py3-none-any.whl`.
    private static func name(ofWheel file: String) -> String {
        let package = String(file.prefix { $0 != "-" && $0 != "." })
        return short(package)
    }

    private static func name(ofFolder path: String) -> String {
        short(URL(fileURLWithPath: path).lastPathComponent.replacingOccurrences(of: "-", with: "_"))
    }

    private static func short(_ name: String) -> String {
        for prefix in ["airbyte_source_", "source_"] where name.hasPrefix(prefix) && name.count > prefix.count {
            return String(name.dropFirst(prefix.count))
        }
        return name.isEmpty || name == "." || name == "/" ? "api" : name
    }
}
