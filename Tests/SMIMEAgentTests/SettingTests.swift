import CMSSyntax
import Foundation
import InternetMessage
import SMIMEAgent
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// Parsing and effect of a store's settings.
@Suite struct SettingTests {
    @Test(arguments: Setting.allCases)
    func `every default value is valid for its setting`(_ setting: Setting) {
        #expect(setting.accepts(setting.standard))
    }

    @Test(arguments: [
        "mx.example.com; x=y\r\nX-Evil: 1", "mx.example.com\n", "mx example com", "mx.example.com;", "(mx)", "\"mx\"",
        "",
        "mx\0", "m\u{FC}nchen.test", String(repeating: "x", count: 256),
    ])
    func `a host name that a header field cannot contain is refused`(_ text: String) { #expect(HostName(text) == nil) }

    @Test func `a sendmail program without arguments gets the standard ones`() throws {
        #expect(SendmailCommand(parsing: "sendmail") == nil)
        #expect("\(try #require(SendmailCommand(parsing: "/usr/sbin/sendmail")))" == "/usr/sbin/sendmail -G -i")
        #expect(SendmailCommand(parsing: "/usr/bin/msmtp -t")?.passesLoneDots == false)
    }

    @Test func `a changed setting counts for the next message`() async throws {
        let home = try await TestHome()
        let first = home.store.forOneMessage()
        for _ in 0..<2 { #expect(try await first.subaddressing() == .standard) }
        try await home.store.settings.set("filter.recipient-delimiter", to: "-")
        let next = home.store.forOneMessage()
        for _ in 0..<2 { #expect(try await next.subaddressing() == Subaddressing(parsing: "-")) }
    }

    @Test func `a folder of revocation lists is read again when its files change`() async throws {
        let home = try await TestHome()
        let folder = try home.folder("lists", [:])
        try await home.store.settings.set("revocation.directory", to: folder)
        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        func count() async throws -> Int { try await home.store.filedRevocationLists().all.count }
        let list = try Fixtures.cert("revoked/crl.der")
        #expect(try await count() == 0)
        try write(list, "one.crl")
        #expect(try await count() == 1)
        #expect(try await count() == 1)
        try write([1, 2, 3], "two.crl")
        let warned = Mutex<[String]>([])
        for _ in 0..<2 { _ = try await home.store.filedRevocationLists { text in warned.withLock { $0.append(text) } } }
        #expect(
            warned.withLock { $0 } == Array(repeating: "\(folder)/two.crl: not a readable revocation list", count: 2)
        )
        try write(list, "two.crl")
        #expect(try await count() == 2)
        // While another program writes a file, what it held before counts.
        for cut in [Array(list.prefix(100)), []] {
            try write(cut, "two.crl")
            let found = try await home.store.filedRevocationLists()
            #expect(found.all.count == 2 && found.unreadable.count == 1)
        }
        try write(list, "two.crl")
        // A file that never held a list may hold one that is missing.
        for cut in [Array(list.prefix(100)), []] {
            try write(cut, "new.crl")
            #expect(try await home.store.filedRevocationLists().unreadable.count == 1)
        }
        try FileManager.default.removeItem(atPath: folder + "/new.crl")
        for (name, text) in [("README", "About these lists"), ("update.lock", "")] { try write(Array(text.utf8), name) }
        #expect(try await home.store.filedRevocationLists().unreadable.isEmpty)
        try FileManager.default.removeItem(atPath: folder + "/one.crl")
        #expect(try await count() == 1)
        // Another program may have removed the file before it writes a new one.
        try FileManager.default.removeItem(atPath: folder + "/two.crl")
        for _ in 0..<2 {
            let gone = Mutex<[String]>([])
            let kept = try await home.store.filedRevocationLists { text in gone.withLock { $0.append(text) } }
            #expect(kept.all.count == 1 && gone.withLock { $0.count { $0.contains("two.crl: is gone; ") } } == 1)
        }
        try write(list, "two.crl")
        #expect(try await count() == 1)
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
        let found = try await home.store.filedRevocationLists()
        #expect(found.all.count == 1 && found.unreadable.count == 1)
    }

    @Test func `a folder of revocation lists is read once for callers that come together`() async throws {
        let home = try await TestHome()
        let folder = try home.folder(
            "lists",
            ["bad.crl": [1, 2, 3], "good.crl": try Fixtures.cert("revoked/crl.der")]
        )
        try await home.store.settings.set("revocation.directory", to: folder)
        let warned = Mutex<[String]>([])
        let store = home.store
        let lists = FolderLists { text in warned.withLock { $0.append(text) } }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 { group.addTask { try await lists.contents(in: store).lists.count } }
            for try await count in group { #expect(count == 1) }
        }
        #expect(warned.withLock { $0 } == ["\(folder)/bad.crl: not a readable revocation list"])
    }

    @Test func `an unreadable folder of revocation lists is reported once to callers that come together`() async throws
    {
        let home = try await TestHome()
        let missing = home.path + "/missing"
        try await home.store.settings.set("revocation.directory", to: missing)
        let warned = Mutex<[String]>([])
        let store = home.store
        let lists = FolderLists { text in warned.withLock { $0.append(text) } }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { try await lists.contents(in: store).failure != nil } }
            for try await isUnreadable in group { #expect(isUnreadable) }
        }
        #expect(warned.withLock { $0.count } == 1)
    }

    @Test func `a cipher rule for a sender is set and removed`() async throws {
        let home = try await TestHome()
        let alice = try EmailAddress("alice@example.com")
        try await home.store.checkCipher(.aes256CBC, for: alice)
        try await home.store.setCipher(.aes256CBC, for: alice)
        #expect(try await home.store.cipherPreferences().cipher(for: alice) == .aes256CBC)
        #expect(try await home.store.hasMoreThanAccounts() == false)
        try await home.store.setCipher(nil, for: alice)
        #expect(try await home.store.settings.value(of: Setting.encryptionUnknown.rawValue) == nil)
        try await home.store.settings.set(Setting.filterTags.rawValue, to: "on")
        #expect(try await home.store.hasMoreThanAccounts())
    }
}
