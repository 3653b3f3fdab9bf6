import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// The servers themselves, asked by other programs than ours.
    @Suite struct DemoServersTests {
        @Test func `each server answers its own client`() async throws {
            let servers = try await DemoServers()

            let rest = try await ProcessRun.run("curl", ["-sf", servers.restURL + "/countries/AX"])
            #expect(rest.output.contains(#""name":"Åland Islands""#), "\(rest)")

            let client = """
                $client = new SoapClient($argv[1], ['cache_wsdl' => WSDL_CACHE_NONE]);
                $list = $client->ListSubdivisions(['offset' => 5126, 'limit' => 2]);
                echo $list->total, ' ', $list->subdivisions->subdivision->code;
                """
            let soap = try await ProcessRun.run("php", ["-r", client, servers.soapWSDL])
            #expect(soap.output == "5127 ZW-MW", "\(soap)")

            let url = try #require(URL(string: servers.smbURL))
            let smb = try await ProcessRun.run(
                "smbclient",
                [
                    "-p", String(try #require(url.port)), "-U", servers.smbUser, "//127.0.0.1/documents",
                    "-c", "get countries/CH/name.txt -",
                ], environment: ["PASSWD": servers.smbPassword])
            #expect(smb.output.contains("Switzerland\n"), "\(smb)")
        }

        @Test func `a token is asked for where there is one`() async throws {
            let servers = try await DemoServers(token: "open-sesame")
            func status(_ arguments: String...) async throws -> String {
                let url = servers.restURL + "/currencies"
                return try await ProcessRun.run(
                    "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", url] + arguments
                )
                .output
            }
            #expect(try await status() == "401")
            #expect(try await status("-H", "Authorization: Bearer sesame") == "401")
            #expect(try await status("-H", "Authorization: Bearer open-sesame") == "200")
        }

        @Test func `faults come when asked for, and go`() async throws {
            let servers = try await DemoServers()
            func get(_ path: String) async throws -> ProcessRun {
                try await ProcessRun.run("curl", ["-s", "-w", "%{http_code}", servers.restURL + path])
            }
            try servers.misbehave("status 500 /currencies", "delay 200")
            let failed = try await get("/currencies")
            #expect(failed.output.hasSuffix("500"), "\(failed)")
            #expect(failed.duration > .milliseconds(200))
            #expect(try await get("/countries").output.hasSuffix("200"))
            try servers.misbehave("truncate /countries")
            #expect(try await get("/countries").exitCode == 18)  // CURLE_PARTIAL_FILE
            try servers.misbehave()
            #expect(try await get("/currencies").output.hasSuffix("200"))
        }

        @Test func `stopping ends every process, also twice`() async throws {
            let folder = try TemporaryFolder()
            let script = PackageFolder.path + "/Scripts/servers"
            let start = try await ProcessRun.run(script, ["start", folder.path])
            #expect(start.exitCode == 0 && start.allOutput == "\n", "\(start)")
            func processes() async throws -> [Substring] {
                try await ProcessRun.run("ps", ["-eo", "args"]).output.split(separator: "\n")
                    .filter { $0.contains("smbd -s " + folder.path) }
            }
            #expect(try await !processes().isEmpty)
            for _ in 1...2 {
                let stop = try await ProcessRun.run(script, ["stop", folder.path])
                #expect(stop.exitCode == 0 && stop.allOutput == "\n", "\(stop)")
                #expect(try await processes().isEmpty)
            }
            let gone = try await ProcessRun.run(script, ["stop", folder.appending("never-started")])
            #expect(gone.exitCode == 0, "\(gone)")
        }
    }
}
