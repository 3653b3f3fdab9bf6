import BridgeKit
import Glibc
import SMBBridge
import Testing
import TestLiterals

extension AgainstRealServer {
    @Suite struct FailureTests {
        let server: SMBServer

        init() throws { server = try SMBServer.shared.get() }

        @Test(arguments: [["password": "hunter2"], ["user": "nobody-knows"]] as [Literal])
        func `a wrong password and an unknown user are reported as far as the server distinguishes them`(
            changes: Literal
        ) throws {
            let error = try bridgeError { _ = try SMBBridge(server, changes).check() }
            #expect(error.code == .authentication)
            #expect(
                error.message == "cannot open the share: wrong user, password, or no access to the share; the server "
                    + "does not say which")
            #expect(error.location == "smb://127.0.0.1:\(server.port)/pw")
            #expect(!error.isRetryable)
            #expect(!error.description.contains("hunter2"))
        }

        @Test func `a missing share is distinguished from a missing path`() throws {
            let share = try bridgeError { _ = try SMBBridge(server, share: "nothing", folder: "/x").check() }
            #expect(share.code == .notFound)
            #expect(share.message == "cannot open the share: the server has no share nothing")
            let path = try bridgeError { _ = try SMBBridge(server, folder: "/nothing/here").check() }
            #expect(path.code == .notFound)
            #expect(path.message == "cannot list nothing/here: there is no such path on the share")
            #expect(path.location == "smb://127.0.0.1:\(server.port)/pw/nothing/here")
            let literal = try bridgeError { _ = try SMBBridge(server).scan(["csv": "none.csv"]) }
            #expect(literal.code == .notFound)
            #expect(literal.message == "there is no file none.csv")
        }

        @Test func `the folder where a scan starts must be readable`() throws {
            try server.write("closed/a", "")
            chmod(server.share + "/closed", 0)
            defer { chmod(server.share + "/closed", 0o755) }
            let error = try bridgeError { _ = try SMBBridge(server).scan(["files": "closed/*"]) }
            #expect(error.code == .permission)
            #expect(error.message == "cannot list closed: the server refuses access")
        }

        @Test func `a closed port is unreachable and worth another try`() throws {
            let port = try SMBServer.freePort()
            let error = try bridgeError {
                _ = try SMBBridge(server, ["url": .text("smb://127.0.0.1:\(port)/pw")]).check()
            }
            #expect(error.code == .unreachable)
            #expect(error.message == "cannot open the share: no server answers at port \(port) of 127.0.0.1")
            #expect(error.isRetryable)
        }

        @Test func `a host without an address is distinguished from a protocol that the server does not speak`() throws
        {
            let host = try bridgeError {
                _ = try SMBBridge(server, ["url": "smb://no-such-host.invalid/pw"]).check()
            }
            #expect(host.code == .unreachable)
            #expect(host.message.contains("the host no-such-host.invalid cannot be resolved"))
            let version = try bridgeError {
                _ = try SMBBridge(server, ["min_protocol": "NT1", "max_protocol": "NT1"]).check()
            }
            #expect(version.code == .malformed)
            #expect(version.message.contains("no protocol version from NT1 to NT1"))
        }

        @Test func `a guest is let in only where the config asks for one, and the server has guests`() throws {
            let silent = try bridgeError {
                _ = try SMBBridge(server, share: "guest", ["user": "", "password": ""]).check()
            }
            #expect(silent.code == .configuration)
            #expect(silent.message == "no user is set")
            let refused = try bridgeError {
                _ = try SMBBridge(server, ["user": "", "password": "", "guest": true]).check()
            }
            #expect(refused.code == .authentication)
            #expect(refused.message == "cannot open the share: the server does not allow guests")
        }

        @Test func `Kerberos without a ticket says so, and no password is tried`() throws {
            let error = try bridgeError {
                _ = try SMBBridge(
                    server, ["password": "", "kerberos": true, "credentials_cache": "FILE:/nonexistent/cache"]
                ).check()
            }
            #expect(error.code == .authentication, "\(error)")
            #expect(error.message.contains("no valid Kerberos ticket"))
            #expect(error.remedy?.contains("credentials_cache") == true)
        }

        @Test func `required encryption works with a server that has it`() throws {
            #expect(try SMBBridge(server, ["encryption": "required"]).check() != nil)
        }

        @Test func `a server that dies in the middle ends the scan with a retryable error`() throws {
            let mortal = try SMBServer()
            defer { mortal.kill() }
            for folder in 0..<4 { try mortal.write("\(folder)/file", "x") }
            let source = try SMBBridge(mortal).source(["files": "**"], pageSize: 1)
            let first = try Scan(source, limit: 2)
            #expect(first.records.count == 2)
            mortal.kill()
            let error = try bridgeError { _ = try Scan(source) }
            #expect(error.code == .unreachable)
            #expect(error.isRetryable)
            #expect(try bridgeError { _ = try Scan(source) }.message == error.message)
        }
    }
}
