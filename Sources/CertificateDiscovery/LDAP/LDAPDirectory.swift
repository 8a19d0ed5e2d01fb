import Foundation
import LibCrypto

/// An LDAP directory with people's certificates.
package struct LDAPDirectory: Sendable {
    /// The name and password for the bind.
    package struct Credentials: Sendable {
        /// The DN of a directory entry; Active Directory also accepts `user@domain`.
        package let name: String
        /// The path of a file with the password. One line end at the end of the file is ignored.
        package let passwordFile: String

        package init(name: String, passwordFile: String) {
            self.name = name
            self.passwordFile = passwordFile
        }
    }

    /// The result of a search.
    package struct Answer: Sendable {
        // The maximum number of values, the maximum size of one value, and that of all values together, in bytes.
        private static let maximumCount = 100
        private static let maximumValue = 1 << 18
        private static let maximumSize = 1 << 20

        /// The values of the certificate attributes.
        package private(set) var values: [[UInt8]] = []
        /// False if a limit was exceeded, so that the directory may have other certificates for the address.
        package internal(set) var isComplete = true
        /// Whether nothing more is read.
        private(set) var isFull = false
        private var size = 0

        /// Adds `value`, unless it exceeds a limit.
        mutating func add(_ value: [UInt8]) {
            size += value.count
            isFull = size > Self.maximumSize || values.count >= Self.maximumCount
            guard !isFull, value.count <= Self.maximumValue else {
                isComplete = false
                return
            }
            values.append(value)
        }
    }

    package let url: LDAPURL
    /// Whether TLS is started on the connection (StartTLS) before anything else is sent.
    package let startsTLS: Bool
    /// The path of a file with the certificates of the authorities that may issue the server's certificate; if nil, the
    /// system's authorities.
    package let authorities: String?
    /// The credentials; nil for an anonymous bind.
    package let credentials: Credentials?

    package init(url: LDAPURL, startsTLS: Bool, authorities: String?, credentials: Credentials?) {
        self.url = url
        self.startsTLS = startsTLS
        self.authorities = authorities
        self.credentials = credentials
    }

    /// Opens a connection and logs in (bind).
    ///
    /// - Throws: `DiscoveryOutage`
    package func connect(until deadline: ContinuousClock.Instant) throws(DiscoveryOutage) -> LDAPConnection {
        // An ldapi connection uses a local socket, so it is private.
        let isPrivate = url.scheme != "ldap" || startsTLS
        guard isPrivate || credentials == nil else {
            throw .fault("a password is sent only with TLS (set lookup.ldap.starttls, or use an ldaps URL)")
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

    /// The values of the certificate attributes in the entries found for `address`.
    ///
    /// - Throws: `DiscoveryOutage`
    package func answer(
        about address: String,
        by connection: LDAPConnection,
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> Answer {
        try connection.search(url, url.filter(for: address), until: deadline)
    }

    /// Where Debian stores the system's authorities. Without its configuration files, libldap has no default path for them.
    private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
    private static let maximumPassword = 1024

    private static func password(in file: String) throws(DiscoveryOutage) -> [UInt8] {
        guard !file.isEmpty else {
            throw .fault(
                "lookup.ldap.bind is set, but lookup.ldap.password-file is not"
            )
        }
        // Opening a named pipe must not block until another program writes to it.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0 else { throw .fault("\(file): the password cannot be read") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .fault("\(file): the password file is not a regular file")
        }
        guard status.st_mode & 0o007 == 0 else {
            throw .fault("\(file): other users have access to the password: chmod o= \(file)")
        }
        guard var data = try? handle.read(upToCount: maximumPassword + 1) else {
            throw .fault("\(file): the password cannot be read")
        }
        var bytes = [UInt8](data)
        data.resetBytes(in: data.indices)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        // A directory would treat a bind with an empty password as anonymous.
        guard !bytes.isEmpty, bytes.count <= maximumPassword else {
            bytes.wipe()
            throw .fault("\(file): the password must have 1 to \(maximumPassword) bytes")
        }
        return bytes
    }
}
