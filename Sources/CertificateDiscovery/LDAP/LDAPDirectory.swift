import Foundation
import LibCrypto

/// An LDAP directory with people's certificates.
package struct LDAPDirectory: Sendable {
    /// The name and the password that the directory is opened with.
    package struct Credentials: Sendable {
        /// The name of an entry; Active Directory also takes `user@domain`.
        package let name: String
        /// A file with the password, whose last line end does not count.
        package let passwordFile: String

        package init(name: String, passwordFile: String) {
            self.name = name
            self.passwordFile = passwordFile
        }
    }

    package let url: LDAPURL
    /// Whether a connection without TLS is turned into one with it before anything is said.
    package let startsTLS: Bool
    /// A file with the certificates of authorities that the server's must chain to; nil for the system's.
    package let authorities: String?
    /// Nil to open it without a name.
    package let credentials: Credentials?

    package init(url: LDAPURL, startsTLS: Bool, authorities: String?, credentials: Credentials?) {
        self.url = url
        self.startsTLS = startsTLS
        self.authorities = authorities
        self.credentials = credentials
    }

    /// Opens a connection.
    ///
    /// - Throws: `DiscoveryOutage`
    package func connect(until deadline: ContinuousClock.Instant) throws(DiscoveryOutage) -> LDAPConnection {
        // ldapi is a socket of this host.
        let isPrivate = url.scheme != "ldap" || startsTLS
        guard isPrivate || credentials == nil else {
            throw DiscoveryOutage("a password is not sent without TLS (lookup.ldap.starttls, or an ldaps URL)")
        }
        let connection = try LDAPConnection(url.server, until: deadline)
        if url.scheme != "ldapi" {
            try connection.requireCertificate(authorities: authorities ?? Self.systemAuthorities)
        }
        if url.scheme == "ldap", startsTLS { try connection.startTLS() }
        if let credentials {
            var password = try Self.password(in: credentials.passwordFile)
            defer { password.wipe() }
            try connection.bind(credentials.name, &password)
        }
        return connection
    }

    /// The values of the attributes of what is found for `address`.
    ///
    /// - Throws: `DiscoveryOutage`
    package func values(
        for address: String,
        by connection: LDAPConnection,
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> [[UInt8]] {
        try connection.search(url, url.filter(for: address), until: deadline)
    }

    /// Where Debian has the certificates of the system's authorities. libldap has none of its own there without its configuration.
    private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
    private static let maximumPassword = 1024

    private static func password(in file: String) throws(DiscoveryOutage) -> [UInt8] {
        // Opening a named pipe must not wait for its writer.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0 else { throw DiscoveryOutage("\(file): the password cannot be read") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw DiscoveryOutage("\(file): the password is not in a file")
        }
        guard status.st_mode & 0o007 == 0 else {
            throw DiscoveryOutage("\(file): every user can read the password: chmod o= \(file)")
        }
        guard let data = try? handle.read(upToCount: maximumPassword + 1) else {
            throw DiscoveryOutage("\(file): the password cannot be read")
        }
        var bytes = [UInt8](data)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        // A directory takes an empty password for no name at all.
        guard !bytes.isEmpty, bytes.count <= maximumPassword else {
            throw DiscoveryOutage("\(file): no password of 1 to \(maximumPassword) bytes")
        }
        return bytes
    }
}
