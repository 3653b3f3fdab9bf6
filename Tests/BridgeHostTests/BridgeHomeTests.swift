import Glibc
import TestSupport
import Testing

@testable import BridgeHost

/// What a host that was killed left of its bridges' processes.
@Suite struct BridgeHomeTests {
    @Test func `only the folders of hosts that are gone are removed`() throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        func make(_ name: String) throws -> String {
            let path = "\(folder.path)/\(name)"
            try #require(mkdir(path, 0o700) == 0)
            close(open(path + "/config.json", O_CREAT | O_WRONLY, 0o600))
            return path
        }
        let dead = try make(BridgeHome.prefix + "dead")
        let living = try make(BridgeHome.prefix + "living")
        let other = try make("other")
        let lock = open(living, O_RDONLY | O_DIRECTORY)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        symlink(other, "\(folder.path)/\(BridgeHome.prefix)link")
        BridgeHome.sweep(folder.path)
        #expect(access(dead, F_OK) == 0, "one that was just made may not be locked yet")
        BridgeHome.sweep(folder.path, age: 0)
        #expect(access(dead, F_OK) != 0)
        #expect(access(living + "/config.json", F_OK) == 0)
        #expect(access(other + "/config.json", F_OK) == 0)
    }

    @Test func `a home is locked until it is removed`() throws {
        let home = try #require(BridgeHome.make())
        let again = open(home.path, O_RDONLY | O_DIRECTORY)
        defer { close(again) }
        #expect(flock(again, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        home.remove()
        #expect(access(home.path, F_OK) != 0)
        #expect(flock(again, LOCK_EX | LOCK_NB) == 0)
    }
}
