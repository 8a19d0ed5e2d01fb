import CMSSyntax
import InternetMessage
import SMIMEAgent
import SMIMEStore
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
