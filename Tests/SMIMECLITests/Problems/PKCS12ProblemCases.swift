import ByteStreams
import LibCrypto
import PKIX
import TestSupport

/// Problems of PKCS#12 files.
enum PKCS12ProblemCases {
    static let recipes: [ProblemCode: ProblemCaseTests.Recipe] = [
        .pkcs12BadCertificate: { try open([certificateBag(DER.sequence([5, 0]))]) },
        .pkcs12BadCRL: { try open([bag(4, DER.sequence(DER.rsadsi(1, 9, 23, 1), wrapped(DER.sequence([5, 0]))))]) },
        .pkcs12KeyWithoutCertificate: { try open([keyBag("carol")]) },
        .pkcs12NoMAC: { try open([]) },
        .pkcs12TrailingBytes: {
            try read(Fixtures.cert("p12-cases/trailing-bytes.p12"))
        },
        .pkcs12Unsupported: { try open([bag(9, DER.octets([1]))]) },
    ]

    private static func read(_ bytes: [UInt8]) throws -> [Problem] {
        try PKCS12(bytes, passphrase: Passphrase("test".utf8)).problems
    }

    /// The problems of a file with alice's identity and `bags`.
    private static func open(_ bags: [[UInt8]]) throws -> [Problem] {
        let all = try [certificateBag(Certificate(fixture: "alice/cert.pem").der), keyBag("alice")] + bags
        let safe = data(DER.element(0x30, all.flatMap { $0 }))
        return try read(DER.sequence([2, 1, 3], data(DER.sequence(safe))))
    }

    private static func data(_ contents: [UInt8]) -> [UInt8] { DER.sequence(DER.data, wrapped(contents)) }

    private static func wrapped(_ contents: [UInt8]) -> [UInt8] { DER.element(0xA0, DER.octets(contents)) }

    private static func bag(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
        DER.sequence(DER.rsadsi(1, 12, 10, 1, type), DER.element(0xA0, value))
    }

    private static func certificateBag(_ der: [UInt8]) -> [UInt8] {
        bag(3, DER.sequence(DER.rsadsi(1, 9, 22, 1), wrapped(der)))
    }

    private static func keyBag(_ name: String) throws -> [UInt8] {
        try PrivateKey(pem: Fixtures.cert("\(name)/key.pem"), passphrase: nil).withPKCS8 { bag(1, Array($0)) }
    }
}
