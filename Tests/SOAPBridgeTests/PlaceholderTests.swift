import BridgeKit
import Testing
import TestSupport

@testable import SOAPBridge

/// Values of the parent that an input lacks: the request would be for the children of all parents.
@Suite struct PlaceholderTests {
    private static let parent: Literal = ["id": 7, "area": nil, "code": ""]

    private func skipped(_ input: Literal, parent: Literal? = parent) throws -> String? {
        let section: Literal = ["operation": "List", "records": "a", "input": input]
        return Placeholders(parent: parent?.options, since: nil).skipped(in: try SOAPSection(section.options).input)?
            .warning
    }

    @Test func `a parent whose value is null is skipped, wherever the input names it`() throws {
        for input: Literal in [
            ["area": "{parent.area}"], ["filter": ["area": "in {parent.area}"]],
            ["tag": .array(["a", "{parent.area}"])],
            ["@area": "{parent.id}-{parent.area}"],
        ] {
            let warning = try skipped(input)
            #expect(warning?.hasPrefix("{parent.area} of input is null, so this parent is skipped") == true, "\(input)")
        }
    }

    @Test func `what has a value, is optional, or is not a parent's does not skip`() throws {
        for input: Literal in [
            ["id": "{parent.id}"], ["code": "{parent.code}"], ["area": "({parent.area})"], ["since": "{since}"],
            ["area": nil], [:],
        ] { #expect(try skipped(input) == nil, "\(input)") }
        #expect(try skipped(["area": "{parent.area}"], parent: nil) == nil)
        // An optional part is the whole text, and one variable.
        #expect(try skipped(["area": "({parent.area}{parent.id})"]) != nil)
    }

    @Test func `a scan below such a parent asks nothing, and deletes nothing`() async throws {
        let server = try await RemoteServer.soap("rich.php", "rich.wsdl")
        let bridge = try SOAPBridge(
            options: (["wsdl": .text(server.url + "/s?wsdl"), "wsdl_cache": ""] as Literal).options,
            context: BridgeContext())
        let section: Literal = [
            "operation": "GetThing", "records": "GetThingResponse/thing", "input": ["id": "{parent.area}"],
        ]
        var request = FetchRequest(entity: "Thing", section: section.options)
        request.parent = Self.parent.options
        let scan = try Scan.run(bridge.fetch(request))
        #expect(scan.records.isEmpty && scan.pages.last?.isComplete == false && scan.pages.last?.isEnd == true)
        #expect(scan.pages.last?.warnings.first?.contains("is null, so this parent is skipped") == true)
    }
}
