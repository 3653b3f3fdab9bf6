internal import Foundation
internal import Model

/// An OpenAPI document merged with the files that its `$ref`s name, because bridges read a single text.
///
/// The files are under `x-bmo-files` of the document, by names derived from theirs, and references into them are
/// rewritten. A document from a host may refer only to files of that host, a local one only to local files: neither
/// sends credentials elsewhere, nor exposes local files to a remote document.
struct OpenAPIBundle {
    /// The files that could not be included, and why.
    private(set) var notes: [String] = []
    private let base: URL?
    private var names: [String: String] = [:]
    private var queue: [(url: URL, name: String)] = []

    private static let maxFiles = 200
    private static let member = "x-bmo-files"
    private static let endings: Set<String> = ["json", "yaml", "yml"]

    /// Creates a bundle for the document at a location.
    ///
    /// - Parameter location: The document's URL.
    init(at location: String) {
        base = URL(string: location)
    }

    /// Returns the document's JSON text with its files, or unchanged where it refers to none.
    ///
    /// - Parameter load: Returns the JSON text of the file at a path or URL.
    mutating func text(of document: String, load: (String) async throws -> String) async throws -> String {
        guard document.contains("$ref"), let base, let value = try? ConfigValue(json: document) else { return document }
        var root = rewritten(value, in: base, named: nil)
        var files: [(key: String, value: ConfigValue)] = []
        while !queue.isEmpty {
            let (url, name) = queue.removeFirst()
            do {
                let text = try await load(url.isFileURL ? url.path : url.absoluteString)
                files.append((name, rewritten(try ConfigValue(json: text), in: url, named: name)))
            } catch {
                notes.append("\(url.lastPathComponent), which the document refers to, cannot be read: \(error)")
            }
        }
        guard !names.isEmpty else { return document }
        root = .object((root.members ?? []) + [(Self.member, .object(files))])
        return root.json
    }

    /// Returns the value with its references rewritten for the merged document.
    private mutating func rewritten(_ value: ConfigValue, in file: URL, named name: String?) -> ConfigValue {
        switch value {
        case .array(let elements):
            var all: [ConfigValue] = []
            for element in elements { all.append(rewritten(element, in: file, named: name)) }
            return .array(all)
        case .object(let members):
            var all: [(key: String, value: ConfigValue)] = []
            for (key, value) in members {
                if key == "$ref", let reference = value.string {
                    all.append((key, .string(target(of: reference, in: file, named: name) ?? reference)))
                } else {
                    all.append((key, rewritten(value, in: file, named: name)))
                }
            }
            return .object(all)
        default: return value
        }
    }

    /// Returns a reference's target in the merged document; nil to leave the reference unchanged.
    private mutating func target(of reference: String, in file: URL, named name: String?) -> String? {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let fragment = parts.count > 1 ? String(parts[1]) : ""
        guard let path = parts.first, !path.isEmpty else {
            return name.map { "#/\(Self.member)/\($0)\(fragment)" }
        }
        guard let url = URL(string: String(path), relativeTo: file)?.absoluteURL.standardized, isAllowed(url) else {
            notes.append("\(reference): a file at another location is not read")
            return nil
        }
        if url.absoluteString == base?.absoluteURL.standardized.absoluteString { return "#\(fragment)" }
        let key = url.absoluteString
        if let known = names[key] { return "#/\(Self.member)/\(known)\(fragment)" }
        guard names.count < Self.maxFiles else {
            notes.append("\(reference): more than \(Self.maxFiles) files are not read")
            return nil
        }
        let stem = url.deletingPathExtension().lastPathComponent.filter {
            $0.isLetter || $0.isNumber || "_-.".contains($0)
        }
        var own = stem.isEmpty ? "file" : stem
        var number = 2
        while names.values.contains(own) {
            own = "\(stem)-\(number)"
            number += 1
        }
        names[key] = own
        queue.append((url, own))
        return "#/\(Self.member)/\(own)\(fragment)"
    }

    private func isAllowed(_ url: URL) -> Bool {
        guard let base, url.scheme == base.scheme, url.host == base.host, url.port == base.port else { return false }
        return !url.isFileURL || Self.endings.contains(url.pathExtension.lowercased())
    }
}
