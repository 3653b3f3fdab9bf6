import BridgeKit
import Testing
import TestLiterals

@testable import SMBBridge

@Suite struct ShareURLTests {
    @Test func `a URL is taken apart, and made again with each name encoded`() throws {
        let url = try ShareURL("smb://nas.local:4450/My%20Docs/a%2520b/")
        #expect(url.host == "nas.local")
        #expect(url.port == 4450)
        #expect(url.share == "My Docs")
        #expect(url.folder == ["a%20b"])
        #expect(url.encoded(["ü#?.txt"]) == "smb://nas.local/My%20Docs/%C3%BC%23%3F.txt")
        #expect(url.location(["x"]) == "smb://nas.local:4450/My Docs/a%20b/x")
        #expect(try ShareURL("SMB://h:445/s").port == 445)
        #expect(try ShareURL("smb://h/s").port == nil)
    }

    @Test(arguments: [
        ("http://h/s", "url: it does not begin with smb://"), ("smb:///s", "url: it names no host"),
        ("smb://h", "url: it names no share"), ("smb://h:0/s", "url: its port is not a number from 1 to 65535"),
        ("smb://h:x/s", "url: its port is not a number from 1 to 65535"),
        ("smb://h/s?x=1", "url: it has a query or fragment"), ("smb://h/s/..", "url: \"..\" is not a name"),
        ("smb://h/s/%zz", "url: \"%zz\" is not percent-encoded UTF-8"),
        ("smb://h/s/a%3Ab", "url: \"a:b\" has a character that SMB names cannot have"),
        ("smb://[::1]/s", "url: libsmbclient takes no IPv6 address: use a host name that has one"),
        ("smb://h!/s", "url: its host has a character that host names cannot have"),
    ])
    func `a malformed URL is refused with its fault`(text: String, message: String) throws {
        let error = try bridgeError { _ = try ShareURL(text) }
        #expect(error.code == .configuration)
        #expect(error.message == message)
    }

    @Test(arguments: ["smb://me:hunter2@h/s", "smb://me:hun/ter2@h/s", "smb://me@h/s"])
    func `a user or password in the URL is refused without repeating it`(text: String) throws {
        let error = try bridgeError { _ = try ShareURL(text) }
        #expect(error.message == "url: it holds a user or password, or an unencoded @")
        #expect(!error.description.contains("ter2"))
    }
}
