package import Model
internal import SystemCalls

/// A secret that is read again when its file has changed, so that it can be replaced while the program runs.
///
/// A variable of the environment and a pipe are read once. While the file cannot be read, or has no valid secret, the last
/// one counts: a file that is being replaced may be missing or empty for a moment.
package final class FollowedSecret: Sendable {
    private struct State {
        var value: String
        /// What identifies the content that was read; nil if it is read again anyway.
        var stamp: FileStamp?
        /// What was reported last.
        var fault: String?
    }

    /// The file to follow; nil for a secret that is read once.
    private let path: String?
    private let read: @Sendable () throws -> String
    private let warn: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// Reads the secret for the first time.
    ///
    /// - Parameters:
    ///   - reference: Where the secret is.
    ///   - directory: The folder at which a relative path starts.
    ///   - warn: Called with why the present content of the file cannot be used, once for each reason.
    ///   - read: Reads and checks the secret.
    /// - Throws: What `read` throws.
    package init(
        _ reference: SecretReference, in directory: String, warn: @escaping @Sendable (String) -> Void = { _ in },
        read: @escaping @Sendable () throws -> String
    ) throws {
        var path: String?
        if case .file(let name) = reference {
            let file = name.hasPrefix("/") ? name : directory + "/" + name
            path = Self.fault(of: file) == nil ? file : nil
        }
        self.path = path
        self.read = read
        self.warn = warn
        let stamp = path.flatMap { Self.stamp(of: $0) }
        state = Mutex(State(value: try read(), stamp: stamp))
    }

    /// The secret as it is now.
    package var value: String {
        guard let path else { return state.withLock { $0.value } }
        let (value, fault) = state.withLock { state -> (String, String?) in
            let stamp = Self.stamp(of: path)
            if stamp != nil, stamp == state.stamp { return (state.value, nil) }
            state.stamp = stamp
            do {
                // Reading a pipe in its place would wait for a writer. What is missing, `read` says in words.
                if Self.fault(of: path) == .irregular { throw Irregular(path: path) }
                state.value = try read()
                state.fault = nil
                return (state.value, nil)
            } catch {
                let words = "\(error)"
                defer { state.fault = words }
                return (state.value, words == state.fault ? nil : words)
            }
        }
        if let fault { warn("\(fault); the secret that was read before still counts") }
        return value
    }

    /// A folder, a pipe, a device or a socket in the place of the file.
    private struct Irregular: Error, CustomStringConvertible {
        let path: String

        var description: String { "\(path) is not a regular file any more; write the secret into one" }
    }

    /// Returns why a file cannot be read as a regular one; nil if it can.
    private static func fault(of path: String) -> BoundedFile.Failure? {
        do throws(BoundedFile.Failure) {
            try BoundedFile.scan(path, kind: .regular) { _ in false }
            return nil
        } catch {
            return error
        }
    }

    /// Returns what identifies the content of a file; nil if it may change without changing that.
    private static func stamp(of path: String) -> FileStamp? {
        guard let stamp = FileStamp(path), let age = stamp.age, age > FileStamp.tick else { return nil }
        return stamp.hasWholeSeconds ? nil : stamp
    }
}
