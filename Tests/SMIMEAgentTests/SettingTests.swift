import CMSSyntax
import Foundation
import InternetMessage
import SMIMEAgent
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// What the settings of a store mean.
@Suite struct SettingTests {
    @Test(arguments: Setting.allCases)
    func `What holds unless it was set is understood`(_ setting: Setting) { #expect(setting.accepts(setting.standard)) }

    @Test(arguments: [
        "mx.example.com; x=y\r\nX-Evil: 1", "mx.example.com\n", "mx example com", "mx.example.com;", "(mx)", "\"mx\"",
        "",
        "mx\0", "m\u{FC}nchen.test", String(repeating: "x", count: 256),
    ])
    func `What cannot stand in a field as it is is no name of a host`(_ text: String) { #expect(HostName(text) == nil) }

    @Test func `A sendmail program without arguments gets the standard ones`() throws {
        #expect(SendmailCommand(parsing: "sendmail") == nil)
        #expect("\(try #require(SendmailCommand(parsing: "/usr/sbin/sendmail")))" == "/usr/sbin/sendmail -G -i")
        #expect(SendmailCommand(parsing: "/usr/bin/msmtp -t")?.passesLoneDots == false)
    }

    @Test func `A folder of revocation lists is read again when a file in it changes, comes or goes`() async throws {
        let home = try await TestHome()
        let folder = NSTemporaryDirectory() + "smime-lists-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await home.store.settings.set("revocation.directory", to: folder)
        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        func count() async throws -> Int { try await home.store.revocationLists().count }
        let list = try Fixtures.cert("revoked/crl.der")
        #expect(try await count() == 0)
        try write(list, "one.crl")
        #expect(try await count() == 1)
        #expect(try await count() == 1)
        try write([1, 2, 3], "two.crl")
        let warned = Mutex<[String]>([])
        for _ in 0..<2 { _ = try await home.store.revocationLists { text in warned.withLock { $0.append(text) } } }
        #expect(
            warned.withLock { $0 } == Array(repeating: "\(folder)/two.crl: not a readable revocation list", count: 2)
        )
        try write(list, "two.crl")
        #expect(try await count() == 2)
        try FileManager.default.removeItem(atPath: folder + "/one.crl")
        #expect(try await count() == 1)
    }

    @Test func `A cipher rule for a sender comes and goes`() async throws {
        let home = try await TestHome()
        let alice = try EmailAddress("alice@example.com")
        try await home.store.checkCipher(.aes256CBC, for: alice)
        try await home.store.setCipher(.aes256CBC, for: alice)
        #expect(try await home.store.cipherPreferences().cipher(for: alice) == .aes256CBC)
        #expect(try await home.store.hasMoreThanAccounts() == false)
        try await home.store.setCipher(nil, for: alice)
        #expect(try await home.store.settings.value(of: Setting.encryptionCipher.rawValue) == nil)
        try await home.store.settings.set(Setting.filterTags.rawValue, to: "on")
        #expect(try await home.store.hasMoreThanAccounts())
    }
}
