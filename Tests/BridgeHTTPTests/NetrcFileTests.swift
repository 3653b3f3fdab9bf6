import Testing

@testable import BridgeHTTP

@Suite struct NetrcFileTests {
    @Test(arguments: [
        ("machine h login u password p4ss\n", ["p4ss"]),
        ("machine h\n\tlogin password\n\tpassword \"a b\\\"c\"\ndefault login x password y", ["a b\"c", "y"]),
        ("machine h login u account acc password p", ["acc", "p"]),
        ("machine h login u password", []),
        ("", []),
    ])
    func `the words behind password and account are secrets`(text: String, secrets: [String]) {
        #expect(NetrcFile.passwords(in: text.utf8) == secrets)
    }
}
