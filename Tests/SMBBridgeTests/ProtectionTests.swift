import BridgeKit
import Glibc
import SMBBridge
import Testing
import TestLiterals

extension AgainstRealServer {
    /// Signing, encryption and protocol versions, on servers that insist on them.
    @Suite struct ProtectionTests {
        @Test func `a server that insists on signing is read, with signing on demand or not`() throws {
            let server = try SMBServer("server signing = mandatory")
            defer { server.kill() }
            try server.write("a/b.txt", "x")
            #expect(try SMBBridge(server).scan(["files": "**"]).records.count == 1)
            #expect(try SMBBridge(server, ["signing": "required"]).scan(["files": "**"]).records.count == 1)
        }

        @Test func `required signing is in force on a server that leaves it open`() throws {
            let server = try SMBServer.shared.get()
            try server.write("signed/x", "x")
            let plain = try SMBBridge(server)
            _ = try plain.scan(["files": "signed/*"])
            #expect(
                try server.sessions().contains { $0.contains(" - ") && !$0.contains("HMAC") && !$0.contains("CMAC") })
            let signed = try SMBBridge(server, ["signing": "required"])
            _ = try signed.scan(["files": "signed/*"])
            #expect(
                try server.sessions().contains { $0.contains("CMAC") || $0.contains("GMAC") || $0.contains("HMAC") })
            withExtendedLifetime((plain, signed)) {}
        }

        @Test func `a share that insists on encryption is read with SMB3, and refused before it`() throws {
            let server = try SMBServer.shared.get()
            try server.write("sealed/x", "x")
            let bridge = try SMBBridge(server, share: "sealed")
            #expect(try bridge.scan(["files": "sealed/*"]).records.count == 1)
            let required = try SMBBridge(server, share: "sealed", ["encryption": "required"])
            #expect(try required.scan(["files": "sealed/*"]).records.count == 1)
            let old = try bridgeError {
                _ = try SMBBridge(server, share: "sealed", ["max_protocol": "SMB2_10"]).check()
            }
            #expect(old.code == .authentication || old.code == .permission)
        }

        @Test(arguments: ["SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"])
        func `each protocol version lists and reads`(version: String) throws {
            let server = try SMBServer.shared.get()
            try server.write("versions/x.csv", "id\n1\n")
            let bridge = try SMBBridge(server, ["min_protocol": .text(version), "max_protocol": .text(version)])
            #expect(try bridge.scan(["csv": "versions/*"]).values("id") == [#""1""#])
        }

        /// libsmbclient 4.17 prints that it fails, and goes on in the clear.
        @Test(arguments: ["server max protocol = SMB2_10", "server smb encrypt = off"])
        func `required encryption that a server lacks is refused, not left out`(setting: String) throws {
            let server = try SMBServer(setting)
            defer { server.kill() }
            #expect(try SMBBridge(server).check() != nil)
            let bridge = try SMBBridge(server, ["encryption": "required"])
            let error = try bridgeError { _ = try bridge.check() }
            #expect([.tls, .malformed].contains(error.code), "\(error)")
            #expect(error.remedy?.contains("encryption") == true, "\(error)")
            #expect(try bridgeError { _ = try bridge.scan(["files": "**"]) }.message == error.message)
        }

        @Test func `required encryption is in force on a server that leaves it open`() throws {
            let server = try SMBServer.shared.get()
            try server.write("open/x", "x")
            let bridge = try SMBBridge(server, ["encryption": "required"])
            #expect(try bridge.scan(["files": "open/*"]).records.count == 1)
            #expect(try server.sessions().contains { $0.contains("AES-128-GCM") || $0.contains("AES-256-GCM") })
            withExtendedLifetime(bridge) {}
        }

        @Test func `a server that stops answering ends a call within twice the timeout`() throws {
            let server = try SMBServer()
            defer { server.kill() }
            for folder in 0..<3 { try server.write("\(folder)/file", "x") }
            let source = try SMBBridge(server, ["timeout": 1]).source(["files": "**"], pageSize: 1)
            _ = try Scan(source, limit: 1)
            server.freeze()
            defer { server.thaw() }
            let start = ContinuousClock.now
            let error = try bridgeError { _ = try Scan(source) }
            let elapsed = ContinuousClock.now - start
            #expect(error.code == .timeout, "\(error)")
            #expect(error.isRetryable)
            #expect(elapsed < .seconds(6))
        }
    }
}
