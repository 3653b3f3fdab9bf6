// Writes the Swift types of a configuration: what the build plugin BMOModels runs. It links neither a store nor a server,
// so that it is built in less time than bmo.
internal import Glibc
internal import Model
internal import SwiftModels
internal import SystemCalls

/// Ends the program with a message.
func fail(_ message: String) -> Never {
    let bytes = Array("\(message)\n".utf8)
    _ = write(2, bytes, bytes.count)
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fail("usage: bmo-models CONFIGURATION OUTPUT") }
do {
    let configuration = try ConfigurationFile(path: arguments[1]).configuration()
    let name = arguments[1].split(separator: "/").last.map(String.init) ?? arguments[1]
    let source = try SwiftModels(configuration.model, of: name).source
    try AtomicFile.write(Array(source.utf8), to: arguments[2], mode: 0o666)
} catch let errors as ConfigurationErrors {
    // The form that Xcode and SwiftPM show as errors of the lines.
    let faults = errors.diagnostics.map { fault in
        "\(fault.location): error: \(fault.message)\(fault.remedy.map { "; \($0)" } ?? "")"
    }
    fail(faults.joined(separator: "\n"))
} catch {
    fail("\(arguments[2]): error: cannot be written: \(error)")
}
