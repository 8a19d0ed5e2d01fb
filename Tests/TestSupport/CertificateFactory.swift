public import Foundation
public import Testing

/// Makes keys, certificates and revocation lists with the openssl command, in its own folder.
///
/// All of them are valid from the moment they are made; tests take times from the certificates, not from the clock.
public struct CertificateFactory: ~Copyable {
    private let temporary: TemporaryFolder
    private var serial = 4096

    public init() throws { temporary = try TemporaryFolder() }

    public var folder: URL { temporary.url }

    /// The URL of the file `name` in the folder.
    public func file(_ name: String) -> URL { folder.appending(path: name) }

    /// The bytes of the file `name`.
    public func bytes(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: file(name))) }

    /// Runs a shell script in the folder. It must succeed.
    public func sh(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var runner = CommandRunner("sh", folder: folder)
        runner.timeLimit = .seconds(120)
        let result = try runner.run(["-c", "set -e\n" + script])
        try #require(result.status == 0, "\(result.errorText)", sourceLocation: sourceLocation)
    }

    /// Issues NAME.pem for the key NAME.key, which is made if it does not exist.
    ///
    /// - Parameters:
    ///   - issuer: the name of the issuer's certificate and key; nil for a self-signed certificate.
    ///   - extensions: lines as in openssl's x509v3_config(5).
    ///   - options: further options of `openssl x509 -req`, such as `-sha1`.
    public mutating func issue(
        _ name: String,
        subject: String,
        by issuer: String? = nil,
        key algorithm: String = "EC -pkeyopt ec_paramgen_curve:P-256",
        extensions: [String],
        options: String = "-days 3650",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        serial += 1
        let signer = issuer.map { "-CA \($0).pem -CAkey \($0).key" } ?? "-signkey \(name).key"
        try Data((extensions.joined(separator: "\n") + "\n").utf8).write(to: file("\(name).ext"))
        try sh(
            """
            [ -e \(name).key ] || openssl genpkey -algorithm \(algorithm) -out \(name).key 2>/dev/null
            openssl req -new -utf8 -key \(name).key -subj '\(subject)' -out \(name).csr
            openssl x509 -req -in \(name).csr \(signer) -set_serial \(serial) -extfile \(name).ext \(options) \
            -out \(name).pem 2>\(name).log || { cat \(name).log >&2; exit 1; }
            """,
            sourceLocation: sourceLocation
        )
    }

    /// Makes NAME.key, a DSA key, and NAME.dsa, its parameters.
    public func makeDSAKey(_ name: String) throws {
        try sh(
            """
            openssl genpkey -genparam -algorithm DSA -pkeyopt dsa_paramgen_bits:2048 -out \(name).dsa 2>/dev/null
            openssl genpkey -paramfile \(name).dsa -out \(name).key 2>/dev/null
            """
        )
    }

    /// The extensions of an authority's certificate.
    public static let authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]

    /// The extensions of a person's certificate.
    public static func person(_ address: String) -> [String] {
        ["subjectAltName=email:\(address)", "extendedKeyUsage=emailProtection", "basicConstraints=CA:FALSE"]
    }

    /// Writes NAME.crl, a list by `issuer` that revokes the certificates named in `revoked`.
    ///
    /// - Parameters:
    ///   - extensions: lines of the list's extensions, such as `issuingDistributionPoint=critical,@idp`.
    ///   - sections: further lines of the configuration file, such as the section `[idp]`.
    ///   - options: further options of `openssl ca -gencrl`, such as `-crldays 30`.
    public func revoke(
        _ revoked: [String],
        by issuer: String,
        to name: String,
        extensions: [String] = [],
        sections: String = "",
        options: String = "-crldays 3650"
    ) throws {
        let entries = extensions.joined(separator: "\n")
        try Data(
            """
            [ca]
            default_ca=ca_default
            [ca_default]
            database=\(name).index
            crlnumber=\(name).number
            default_md=sha256
            crl_extensions=crl_ext
            [crl_ext]
            authorityKeyIdentifier=keyid
            \(entries)
            \(sections)

            """.utf8
        ).write(to: file("\(name).cnf"))
        let lines = revoked.map { certificate in
            """
            printf 'R\\t491231235959Z\\t200101000000Z\\t%s\\tunknown\\t/CN=x\\n' \
            "$(openssl x509 -in \(certificate).pem -noout -serial | cut -d= -f2)" >>\(name).index
            """
        }
        try sh(
            """
            : >\(name).index; [ -e \(name).number ] || echo 01 >\(name).number
            \(lines.joined(separator: "\n"))
            openssl ca -gencrl -config \(name).cnf -cert \(issuer).pem -keyfile \(issuer).key \(options) -out \(name).pem.crl 2>\(name).log \
            || { cat \(name).log >&2; exit 1; }
            openssl crl -in \(name).pem.crl -outform DER -out \(name).crl
            """
        )
    }
}
