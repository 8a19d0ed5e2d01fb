package import ByteStreams
import Foundation

/// The settings of this host, if several hosts share a store: lines `KEY VALUE` or `KEY = VALUE` in a file that only this
/// user or root can write.
///
/// These settings name programs, files and directories. They are ignored in the shared database: a client that can write
/// there must not choose what runs on a gateway.
package struct HostSettings: Equatable, Sendable {
    /// The settings that belong to one host. `lookup.ldap` also belongs to one host if it names a socket; otherwise it can
    /// be in the file, too, so that the shared store does not choose the server that gets the host's password.
    package static let names: Set<String> = [
        "filter.sendmail", "lookup.command", "lookup.directory", "lookup.ldap.ca-file", passwordFile,
        "lookup.smimea.trust-anchor", "revocation.directory",
    ]
    private static let passwordFile = "lookup.ldap.password-file"
    private static let directory = "lookup.ldap"

    /// The environment variable that names the file.
    package static let variable = "SMIME_HOST_SETTINGS"
    /// The environment variables that determine where the settings of the host are.
    package static let variables = [variable, "CREDENTIALS_DIRECTORY"]
    /// The file that is used if no other file is named, and there is none beside the store's key.
    package static let systemFile = "/etc/smime/host.conf"
    /// The name of the systemd credential with the password for LDAP.
    private static let passwordCredential = "smime-ldap-password"
    private static let maximumCount = 1 << 16

    /// The place of the file; nil if no file is used.
    package let place: HostSettingsFile?
    /// The credential with the password for LDAP, used if no setting names a password file; nil if there is none.
    private let credential: String?

    /// No file and no credential.
    package init() { (place, credential) = (nil, nil) }

    /// Finds the settings of the host: `file`, otherwise the file in the environment variable, otherwise a file beside the
    /// key, otherwise the file in /etc.
    package init(
        file: String?,
        environment: [String: String],
        keyFolder: String,
        presence: @escaping @Sendable (String) -> FileSource.Presence = FileSource.presence
    ) {
        let named = [file, environment[Self.variable]].lazy.compactMap(\.self).first { !$0.isEmpty }
        place =
            named.map(HostSettingsFile.init(named:))
            ?? HostSettingsFile(searching: ["\(keyFolder)/host.conf", Self.systemFile], presence)
        let credential = environment["CREDENTIALS_DIRECTORY"].map { "\($0)/\(Self.passwordCredential)" }
        self.credential = credential.flatMap { presence($0) == .absent ? nil : $0 }
    }

    /// The path of the file to read now; nil if there is none.
    var file: String? { place?.current }

    /// Whether the setting `key` with `value` belongs to one host.
    package static func isHostSetting(_ key: String, value: String?) -> Bool {
        names.contains(key) || key == directory && value?.lowercased().hasPrefix("ldapi:") == true
    }

    /// Whether this host uses exactly the settings in the store.
    func addsNothing(isShared: Bool) -> Bool { !isShared && credential == nil }

    /// Combines `stored`, the settings in the store, with those of this host. In a shared store, settings that belong to one
    /// host are taken from the host's file only.
    ///
    /// - Parameter isShared: whether other hosts write the store as well.
    /// - Throws: `.unusableHostSettings`
    package func added(to stored: [String: String], isShared: Bool) throws(KeystoreError) -> [String: String] {
        var values = stored
        if isShared {
            values = values.filter { !Self.isHostSetting($0.key, value: $0.value) }
            for (key, value) in try self.values() { values[key] = value }
        }
        if values[Self.passwordFile, default: ""].isEmpty, let credential { values[Self.passwordFile] = credential }
        return values
    }

    /// The settings in the file.
    ///
    /// - Throws: `.unusableHostSettings`
    package func values() throws(KeystoreError) -> [String: String] {
        guard let file else { return [:] }
        let bytes = try Self.content(of: file)
        // A program that writes a file in place first empties it, and if the disk is full it stays empty.
        guard !bytes.isEmpty else {
            let why = "is empty, and may be half-written: a file without settings needs a comment, such as # none"
            throw .unusableHostSettings(path: file, why: why)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .unusableHostSettings(path: file, why: "is not UTF-8")
        }
        var values: [String: String] = [:]
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimming { $0.isWhitespace }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let key = String(line.prefix { $0 != "=" && !$0.isWhitespace })
            var value = line.dropFirst(key.count).trimming { $0.isWhitespace }
            if value.first == "=" { value = value.dropFirst().trimming { $0.isWhitespace } }
            if let fault = Self.fault(key, value: String(value), isSecond: values[key] != nil) {
                throw .unusableHostSettings(path: file, why: "line \(number + 1): \(fault)")
            }
            values[key] = String(value)
        }
        return values
    }

    /// The error in a line of the file; nil if the line is correct.
    private static func fault(_ key: String, value: String, isSecond: Bool) -> String? {
        guard isHostSetting(key, value: value) || key == directory else {
            return "\(key) is not a setting that this file may have; all others are in the store (smime config set)"
        }
        guard !isSecond else { return "\(key) is there twice" }
        guard names.contains(key) else { return nil }
        // A line without a value may be half-written. An empty setting can be expressed by leaving out the line.
        guard value.hasPrefix("/"), !value.contains("\0") else {
            return "\(key) needs an absolute path"
        }
        guard key != "lookup.command" || !value.contains(where: \.isWhitespace) else {
            return "\(key) must be the path of a program, without arguments"
        }
        return nil
    }

    private static func content(of path: String) throws(KeystoreError) -> [UInt8] {
        // Opening a named pipe must not block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .unusableHostSettings(path: path, why: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unusableHostSettings(path: path, why: "is not a regular file")
        }
        guard status.st_uid == 0 || status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw .unusableHostSettings(path: path, why: "others can write it: chown root, chmod go-w \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: maximumCount + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0, count <= maximumCount else {
            throw .unusableHostSettings(path: path, why: "cannot be read, or is larger than \(maximumCount) bytes")
        }
        return Array(bytes.prefix(count))
    }
}

extension StringProtocol {
    fileprivate func trimming(_ isBlank: (Character) -> Bool) -> Substring {
        var rest = self[...].drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return Substring(rest)
    }
}
