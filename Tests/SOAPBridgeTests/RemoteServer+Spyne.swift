import TestSupport

extension RemoteServer {
    /// A script of Tests/Servers with the Python that has spyne, which `Scripts/install test` makes.
    static func spyne(_ script: String) async throws -> RemoteServer {
        try await python(script, interpreter: TestPython.path)
    }
}
