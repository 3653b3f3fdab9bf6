import BridgeKit
import CLibGit2

/// An open repository; used by one thread at a time.
final class Repository {
    let handle: OpaquePointer
    let path: String

    init(_ path: String) throws {
        var handle: OpaquePointer?
        guard git_repository_open(&handle, path) == 0, let handle else {
            throw BridgeError(
                .notFound, "\(path) cannot be opened", remedy: "check the option `repository`", location: path,
                remote: Self.lastError)
        }
        self.handle = handle
        self.path = path
    }

    deinit { git_repository_free(handle) }

    /// The commit that a revision names.
    func resolve(_ revision: String) throws -> git_oid {
        var object: OpaquePointer?
        var commit: OpaquePointer?
        defer {
            git_object_free(object)
            git_object_free(commit)
        }
        guard git_revparse_single(&object, handle, revision) == 0,
            git_object_peel(&commit, object, GIT_OBJECT_COMMIT) == 0, let id = git_object_id(commit)
        else {
            throw BridgeError(
                .notFound, "\(path) has no commit \(revision)", remedy: "name another revision under `from`",
                location: path, remote: Self.lastError)
        }
        return id.pointee
    }

    /// Throws what libgit2 has to say where a call failed.
    func check(_ result: Int32, _ what: String) throws {
        guard result < 0 else { return }
        throw BridgeError(.remote, "\(what) of \(path) failed", location: path, remote: Self.lastError)
    }

    private static var lastError: String? {
        git_error_last().flatMap { $0.pointee.message }.map { String(cString: $0) }
    }
}

extension git_oid: @retroactive CustomStringConvertible {
    /// Forty hexadecimal digits.
    public var description: String {
        var id = self
        return git_oid_tostr_s(&id).map { String(cString: $0) } ?? ""
    }
}
