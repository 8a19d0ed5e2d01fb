import Foundation

/// An LDAP directory (slapd) on loopback, in a temporary folder. It ends with this object.
///
/// Its base is `dc=example,dc=com`; `cn=admin,dc=example,dc=com` has the password `secret`.
public final class DirectoryServer {
    /// Whether slapd is installed.
    public static let isInstalled =
        FileManager.default.isExecutableFile(atPath: program) && FileManager.default.fileExists(atPath: schemas)

    private static let program = "/usr/sbin/slapd"
    private static let schemas = "/etc/ldap/schema"

    /// The URLs of the server for ldap and ldaps.
    public let url, secureURL: String
    /// The path of the server's self-signed TLS certificate.
    public var authorities: String { temporary.file("tls.pem").path }
    private let temporary: TemporaryFolder
    private let process: Process

    /// - Parameter people: an attribute (such as `userCertificate;binary`) and its value for each address.
    public init(_ people: [(address: String, attribute: String, value: [UInt8])]) throws {
        temporary = try TemporaryFolder()
        let folder = temporary.path
        let ports = try [freePort(), freePort()]
        (url, secureURL) = ("ldap://127.0.0.1:\(ports[0])", "ldaps://127.0.0.1:\(ports[1])")
        try Data(Self.configuration(folder).utf8).write(to: temporary.file("slapd.conf"))
        try Data(Self.entries(people).utf8).write(to: temporary.file("people.ldif"))
        try FileManager.default.createDirectory(at: temporary.file("db"), withIntermediateDirectories: false)
        let making = """
            req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.pem -days 36500 \
            -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1
            """
        let made = try CommandRunner("openssl", folder: temporary.url).run(
            making.split(separator: " ").map(String.init)
        )
        let adding = ["-T", "add", "-f", "slapd.conf", "-l", "people.ldif"]
        let added = try CommandRunner(Self.program, folder: temporary.url).run(adding)
        guard made.status == 0, added.status == 0 else { throw CocoaError(.executableLoad) }
        process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["-f", "\(folder)/slapd.conf", "-h", "\(url) \(secureURL)", "-d", "0"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        try waitForPort(ports[1])
    }

    deinit {
        // The server's data is no longer needed, and some servers ignore SIGTERM while they start.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func configuration(_ folder: String) -> String {
        """
        include \(schemas)/core.schema
        include \(schemas)/cosine.schema
        include \(schemas)/inetorgperson.schema
        modulepath /usr/lib/ldap
        moduleload back_mdb
        pidfile \(folder)/pid
        TLSCertificateFile \(folder)/tls.pem
        TLSCertificateKeyFile \(folder)/tls.key
        database mdb
        suffix dc=example,dc=com
        rootdn cn=admin,dc=example,dc=com
        rootpw secret
        directory \(folder)/db

        """
    }

    private static func entries(_ people: [(address: String, attribute: String, value: [UInt8])]) -> String {
        let top = "dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n"
        return
            ([top]
            + people.enumerated().map { index, person in
                """
                dn: cn=\(index),dc=example,dc=com
                objectClass: inetOrgPerson
                sn: \(index)
                mail: \(person.address)
                \(person.attribute):: \(Data(person.value).base64EncodedString())

                """
            }).joined(separator: "\n")
    }
}

/// A currently unused port on loopback.
public func freePort() throws -> UInt16 {
    let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
        guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
        return bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
    }
    guard isBound else { throw CocoaError(.featureUnsupported) }
    return UInt16(bigEndian: address.sin_port)
}

/// Waits until a process listens on a port of loopback.
public func waitForPort(_ port: UInt16) throws {
    var address = loopback(port)
    for _ in 0..<600 {
        let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        let isThere = withUnsafeBytes(of: &address) { bytes -> Bool in
            guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return connect(socket, pointer, socklen_t(bytes.count)) == 0
        }
        if isThere { return }
        usleep(50_000)
    }
    throw CocoaError(.executableLoad)
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
