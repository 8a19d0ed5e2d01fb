import ByteStreams
import Foundation
import SMIMEStore
import Synchronization
import TestSupport
import Testing

@Suite final class HostSettingsTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("host.conf").path
    }

    private func settings(_ environment: [String: String] = [:]) -> HostSettings {
        HostSettings(file: path, environment: environment, keyFolder: "/k") { _ in .there }
    }

    private func values(of text: String, mode: Int = 0o644) throws -> [String: String] {
        try Data(text.utf8).write(to: URL(filePath: path))
        chmod(path, mode_t(mode))
        return try settings().values()
    }

    private func fault(in text: String, mode: Int = 0o644) throws -> String {
        "\(try #require(#expect(throws: KeystoreError.self) { try values(of: text, mode: mode) }))"
    }

    @Test func `lines have a key and a value`() throws {
        let text = """
            # of this host

            filter.sendmail /usr/sbin/sendmail -G -i
            lookup.command=/usr/local/bin/find
              lookup.directory =  /mnt/certs\t
            lookup.ldap ldapi://%2Frun%2Fldapi/dc=example?mail=%s\r
            """
        #expect(
            try values(of: text) == [
                "filter.sendmail": "/usr/sbin/sendmail -G -i", "lookup.command": "/usr/local/bin/find",
                "lookup.directory": "/mnt/certs", "lookup.ldap": "ldapi://%2Frun%2Fldapi/dc=example?mail=%s",
            ]
        )
    }

    @Test func `only settings of one host are taken, with whole paths`() throws {
        #expect(
            try fault(in: "\nfilter.tags on").contains("line 2: filter.tags is not a setting that this file may have")
        )
        #expect(try fault(in: "lookup.command find").contains("absolute path"))
        #expect(try fault(in: "lookup.command /bin/find -x").contains("without arguments"))
        #expect(
            try fault(in: "lookup.directory /a\nlookup.directory /b").contains(
                "line 2: lookup.directory is there twice"
            )
        )
    }

    @Test func `a file that others can write, or none, is refused`() throws {
        #expect(try fault(in: "lookup.directory /a", mode: 0o664).contains("others can write it"))
        #expect(try fault(in: "lookup.directory /a", mode: 0o646).contains("others can write it"))
        unlink(path)
        #expect(throws: KeystoreError.self) { try settings().values() }
        mkdir(path, 0o700)
        #expect(throws: KeystoreError.self) { try settings().values() }
    }

    @Test func `an empty file or path is refused, and a comment says that there are no settings`() throws {
        #expect(try fault(in: "").contains("is empty"))
        #expect(try fault(in: "lookup.directory ").contains("line 1: lookup.directory needs an absolute path"))
        #expect(try values(of: "lookup.ldap =\n") == ["lookup.ldap": ""])
        #expect(try values(of: "# none\n").isEmpty)
        #expect(try values(of: "\n").isEmpty)
    }

    @Test func `the file is the first that is named or there`() {
        func file(_ given: String?, _ environment: [String: String] = [:], there: Set<String> = []) -> String? {
            HostSettings(file: given, environment: environment, keyFolder: "/k") {
                there.contains($0) ? .there : .absent
            }
            .place?.current
        }
        let both: Set = ["/k/host.conf", "/etc/smime/host.conf"]
        #expect(file("/f", ["SMIME_HOST_SETTINGS": "/e"], there: both) == "/f")
        #expect(file(nil, ["SMIME_HOST_SETTINGS": "/e"], there: both) == "/e")
        #expect(file(nil, there: both) == "/k/host.conf")
        #expect(file(nil, there: ["/etc/smime/host.conf"]) == "/etc/smime/host.conf")
        #expect(file(nil) == nil)
    }

    @Test func `a file that cannot be reached is not a missing file`() throws {
        func mayExist(_ name: String) -> Bool { FileSource.mayExist(folder.file(name).path) }
        #expect(!mayExist("host.conf") && !mayExist("none/host.conf"))
        symlink("unmounted/host.conf", path)
        #expect(mayExist("host.conf"))
        #expect(throws: KeystoreError.self) { try settings().values() }
        symlink("loop", folder.file("loop").path)
        #expect(mayExist("loop/host.conf"))
        try Data().write(to: folder.file("file"))
        #expect(mayExist("file") && !mayExist("file/host.conf"))
    }

    @Test func `a file that was there must stay, and one that cannot be reached is looked for again`() {
        let presences = Mutex<[String: FileSource.Presence]>([:])
        func set(_ key: FileSource.Presence, _ system: FileSource.Presence) {
            presences.withLock { $0 = ["/k/host.conf": key, "/etc/smime/host.conf": system] }
        }
        func place() -> HostSettingsFile? {
            HostSettings(file: nil, environment: [:], keyFolder: "/k") { path in
                presences.withLock { $0[path, default: .absent] }
            }.place
        }
        for later in [FileSource.Presence.there, .absent] {
            let place = place()
            // The first folder cannot be searched: it is not known which file counts.
            set(.unknown, .there)
            #expect(place?.current == "/k/host.conf" && place?.known == nil)
            let file = later == .there ? "/k/host.conf" : "/etc/smime/host.conf"
            set(later, .there)
            #expect(place?.current == file && place?.known == file)
            set(.absent, .absent)
            #expect(place?.current == file && place?.known == file)
        }
        let none = place()
        set(.unknown, .absent)
        #expect(none?.current != nil)
        set(.absent, .absent)
        #expect(none?.current == nil && none?.known == nil)
    }

    @Test func `what the shared database says of a host does not count`() throws {
        try Data("lookup.command /bin/ours\n".utf8).write(to: URL(filePath: path))
        let made = [
            "lookup.command": "/bin/theirs", "filter.sendmail": "/bin/theirs", "lookup.ldap": "LDAPI://x/",
            "filter.tags": "on",
        ]
        let host = settings()
        #expect(
            try host.added(to: made, isShared: true).filter { $0.key != "lookup.ldap.password-file" }
                == ["lookup.command": "/bin/ours", "filter.tags": "on"]
        )
        #expect(try host.added(to: made, isShared: false)["lookup.command"] == "/bin/theirs")
    }

    @Test func `the shared database does not choose the server that gets the password of the host`() throws {
        let text = "lookup.ldap ldaps://ours.example/\nlookup.ldap.password-file /p"
        #expect(try values(of: text)["lookup.ldap"] == "ldaps://ours.example/")
        let made = ["lookup.ldap": "ldaps://theirs.example/"]
        #expect(try settings().added(to: made, isShared: true)["lookup.ldap"] == "ldaps://ours.example/")
        // A host without this setting in its file uses the server in the database.
        #expect(try values(of: "lookup.ldap.password-file /p").count == 1)
        #expect(try settings().added(to: made, isShared: true)["lookup.ldap"] == "ldaps://theirs.example/")
    }

    @Test func `a credential of systemd is the password for LDAP where no file is named`() throws {
        try Data("# none\n".utf8).write(to: URL(filePath: path))
        let host = settings(["CREDENTIALS_DIRECTORY": "/c"])
        let name = "lookup.ldap.password-file"
        for isShared in [true, false] {
            #expect(try host.added(to: [:], isShared: isShared) == [name: "/c/smime-ldap-password"])
        }
        #expect(try host.added(to: [name: "/p"], isShared: false) == [name: "/p"])
    }
}
