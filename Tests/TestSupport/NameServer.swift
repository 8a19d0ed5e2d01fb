import Foundation

/// A DNS server (named) on loopback with two zones: `example.com`, which is signed, and `unsigned.example.net`, which is
/// not. It ends with this object.
public final class NameServer {
    /// Whether BIND and its tools are installed.
    public static let isInstalled = ["/usr/sbin/named", "/usr/bin/dnssec-signzone", "/usr/bin/dnssec-keygen"].allSatisfy
    {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The server's address and port, in the syntax of libunbound.
    public let address: String
    /// The path of the file with the key of the signed zone.
    public var anchors: String { temporary.file("anchors").path }
    private let temporary: TemporaryFolder
    private let process: Process

    /// - Parameters:
    ///   - records: the data of SMIMEA records, with their names relative to the zone.
    ///   - isForged: whether the zone is changed after signing.
    public init(_ records: [(name: String, data: [UInt8])], isForged: Bool = false) throws {
        temporary = try TemporaryFolder()
        let (folder, port) = (temporary.path, try freePort())
        address = "127.0.0.1@\(port)"
        let top = "$TTL 300\n@ IN SOA ns root 1 3600 600 86400 60\n@ IN NS ns\nns IN A 127.0.0.1\n"
        let lines = records.map { name, data in
            "\(name) IN TYPE53 \\# \(data.count) \(data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())\n"
        }
        let zone = top + lines.joined()
        let files = [
            "zone": zone, "unsigned": zone, "named.conf": Self.configuration(folder, port),
            "root":
                "$TTL 300\n@ IN SOA ns.example.com. root.example.com. 1 3600 600 86400 60\n@ IN NS ns.example.com.\n"
                + "example.com. IN NS ns.example.com.\nns.example.com. IN A 127.0.0.1\n",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: temporary.file(name)) }
        let forging =
            isForged
            ? "sed -i 's/127.0.0.1/127.0.0.2/; s/ 1 3600/ 2 3600/; s/TYPE53 3/TYPE53 1/; s/SMIMEA\\t3/SMIMEA\\t1/' signed"
            : ":"
        let script = """
            dnssec-keygen -q -a ECDSAP256SHA256 -f KSK example.com && dnssec-keygen -q -a ECDSAP256SHA256 example.com &&
            dnssec-signzone -q -S -o example.com -f signed zone && grep -h 'DNSKEY 257' K*.key >anchors && \(forging)
            """
        let made = try CommandRunner("/bin/sh", folder: temporary.url).run(["-c", script])
        guard made.status == 0 else { throw CocoaError(.executableLoad) }
        process = Process()
        process.executableURL = URL(filePath: "/usr/sbin/named")
        process.arguments = ["-c", "\(folder)/named.conf", "-f", "-g"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        try waitForPort(port)
    }

    deinit {
        // The server's data is no longer needed, and some servers ignore SIGTERM while they start.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func configuration(_ folder: String, _ port: UInt16) -> String {
        """
        options {
            directory "\(folder)"; pid-file "\(folder)/pid"; session-keyfile "\(folder)/session.key";
            listen-on port \(port) { 127.0.0.1; }; listen-on-v6 { none; };
            recursion no; dnssec-validation no; allow-transfer { none; };
        };
        controls { };
        zone "." { type primary; file "root"; };
        zone "example.com" { type primary; file "signed"; };
        zone "unsigned.example.net" { type primary; file "unsigned"; };

        """
    }
}
