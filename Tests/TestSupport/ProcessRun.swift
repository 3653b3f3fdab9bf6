/// How a program ended, and what it wrote.
package struct ProcessRun: Sendable, CustomStringConvertible {
    /// The program and its arguments.
    package let command: String
    /// As a shell shows it: 128 and the signal's number for one that a signal ended.
    package let exitCode: Int32
    /// The signal that ended it, or 0.
    package let signal: Int32
    /// All of its standard output.
    package let output: String
    /// All of its standard error.
    package let errorOutput: String
    /// From its start to the moment that its end was seen.
    package let duration: Duration

    /// Both outputs: for checks of what must, or must not, be said anywhere.
    package var allOutput: String { output + "\n" + errorOutput }

    /// The command, its exit code and what it wrote, for a failed expectation.
    package var description: String {
        "\(command) ended with \(exitCode) after \(duration)\n--- output\n\(output)\n--- errors\n\(errorOutput)"
    }

    /// Runs a program to its end; see ``RunningProcess``.
    package static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        directory: String? = nil, within deadline: Duration = .seconds(60)
    ) async throws -> ProcessRun {
        try await RunningProcess(executable, arguments, environment: environment, directory: directory)
            .finish(within: deadline)
    }
}
