import BridgeKit
import Foundation
import Testing
import TestSupport

@testable import SOAPBridge

/// Over WSDLs of other people, which are not in the repository: `BMO_WSDLS` names a file that lists their paths.
///
/// For each it writes what was found to `BMO_WSDLS_REPORT`, as lines of JSON.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["BMO_WSDLS"] != nil, "BMO_WSDLS names no file with a list of WSDLs"))
struct CorpusTests {
    private struct Report: Encodable {
        var path: String
        var error: String?
        var operations: [String] = []
        var problems: [String] = []
        var requestErrors: [String] = []
        var notes: [String] = []
        /// The elements of requests and replies: `name`, `name*` for one that repeats, `name?` for one that may be absent.
        var inputs: [String: [String]] = [:]
        var outputs: [String: [String]] = [:]
        var milliseconds = 0
    }

    @Test func `every WSDL is read, and a request of each of its operations is well-formed XML`() throws {
        let environment = ProcessInfo.processInfo.environment
        let list = try String(contentsOfFile: environment["BMO_WSDLS"] ?? "", encoding: .utf8)
        var lines = ""
        var failures = 0
        for path in list.split(separator: "\n").map(String.init) {
            let report = report(path)
            if report.error != nil || !report.requestErrors.isEmpty { failures += 1 }
            lines += String(decoding: try JSONEncoder().encode(report), as: UTF8.self) + "\n"
        }
        try lines.write(toFile: environment["BMO_WSDLS_REPORT"] ?? "/dev/stdout", atomically: false, encoding: .utf8)
        #expect(failures == 0)
    }

    private func report(_ path: String) -> Report {
        var report = Report(path: path)
        let begin = ContinuousClock.now
        do {
            let location = try #require(DocumentLocation(path))
            let definition = try WSDLReader.load(location) { try DocumentReader.readFile($0.path) }
            report.notes = definition.notes
            for service in definition.services {
                for port in service.ports {
                    for operation in port.operations { check(operation, of: port, definition.schemas, &report) }
                }
            }
        } catch {
            report.error = "\(error)"
        }
        report.milliseconds = Int((ContinuousClock.now - begin) / .milliseconds(1))
        return report
    }

    private func check(_ operation: WSDLOperation, of port: WSDLPort, _ schemas: SchemaSet, _ report: inout Report) {
        report.operations.append("\(port.name)/\(operation.name)")
        report.inputs["\(port.name)/\(operation.name)"] = shape(operation.input, schemas)
        report.outputs["\(port.name)/\(operation.name)"] = shape(operation.output, schemas)
        if let problem = operation.problem { report.problems.append("\(operation.name) \(problem)") }
        do {
            let (bytes, missing) = try EnvelopeWriter.write(
                operation, version: port.version, input: RequiredInput.make(operation, schemas), schemas: schemas)
            _ = try XMLElement.parse(bytes, subject: "the request")
            // A required element that holds itself has no end; the input stops at some depth.
            let isEndless = !missing.contains { $0.split(separator: "/").count <= 10 }
            if !isEndless { report.requestErrors.append("\(operation.name) lacks \(missing.prefix(3))") }
            if !operation.isOneWay { _ = try ReplyPlan(operation: operation, schemas: schemas, records: []) }
        } catch {
            report.requestErrors.append("\(operation.name): \(error)")
        }
    }

    private func shape(_ body: MessageBody, _ schemas: SchemaSet) -> [String] {
        guard body.elements.count == 1 else { return body.elements.map(\.name.local) }
        guard case .complex(let type) = schemas[body.elements[0].type] else { return [] }
        return type.children.map { $0.name.local + ($0.isRepeated ? "*" : "") + ($0.isRequired ? "" : "?") }
    }
}
