import SwiftASN1

/// The time for checking a path: for reading the certificates, verifying their signatures, sorting their policies, and
/// comparing the names in each certificate with the name constraints of all certificates above it.
///
/// RFC 5280 §6.1.3
struct PathCost {
    /// The first certificate that `isExcessive`; nil if there is none. `PathVerification` does not pass a path with
    /// such a certificate to libcrypto.
    let excessiveCertificate: Certificate?
    /// The work in units of `WorkBudget`.
    let units: Int

    init(_ path: [Certificate]) {
        excessiveCertificate = path.first(where: \.isExcessive)
        var units = 0
        var (constraints, bytes) = (0, 0)
        for certificate in path.reversed() {
            let parts = certificate.comparedParts
            // libcrypto compares each name with each constraint, and searches both for the beginning of the domain.
            let pairs = parts.names * constraints
            units += (parts.names * bytes + parts.nameBytes * constraints + pairs * 50) / Self.bytesPerUnit
            constraints += parts.constraints
            bytes += parts.constraintBytes
            units += certificate.readingCost + parts.policies * parts.policies / Self.policyPairsPerUnit
        }
        units += path.dropFirst().reduce(0) { $0 + $1.verificationCost }
        if let leaf = path.first, !leaf.internationalAddresses.isEmpty {
            let addresses = leaf.internationalAddresses.count + leaf.comparedParts.names
            units += addresses * constraints / Self.internationalPairsPerUnit
        }
        self.units = units
    }

    /// The number of bytes that libcrypto processes per unit.
    private static let bytesPerUnit = 100_000
    /// The number of pairs of policies of one certificate that libcrypto compares per unit.
    private static let policyPairsPerUnit = 500
    /// The number of pairs of international addresses and constraints that `MailConstraints` compares per unit.
    private static let internationalPairsPerUnit = 50
}

/// How many parts of a certificate are compared with parts of other certificates.
struct ComparedParts: Sendable {
    /// The number of the subject's names, including those in its distinguished name.
    var names = 0
    var nameBytes = 0
    /// The number of name constraints.
    var constraints = 0
    var constraintBytes = 0
    /// The number of distribution point names of the certificate's revocation lists.
    var points = 0
    /// The number of policies and of mappings between policies.
    var policies = 0
    /// The number of extensions. libcrypto searches through all of them for each one that it evaluates. `count` does not
    /// include this number.
    var extensions = 0

    var count: Int { names + constraints + points + policies }
}

extension Certificate {
    /// The maximum of names, name constraints, policies and distribution point names together, and also the maximum number of
    /// extensions. A path with a certificate that exceeds one of these two is not passed to libcrypto.
    package static let maximumNames = 1000
    /// The number of addresses that a report shows of a certificate that `isExcessive`.
    private static let reportedNames = 20

    /// The maximum of `verificationCost`.
    private static let maximumVerificationCost = 150
    /// The maximum length of an RSA exponent in bits. libcrypto has the same limit for moduli of more than 3072 bits
    /// (OPENSSL_RSA_MAX_PUBEXP_BITS).
    private static let maximumExponentBits = 64

    /// Whether the certificate exceeds the maximum of compared parts, or of extensions, or verifying one signature with its
    /// key takes too long.
    package var isExcessive: Bool {
        comparedParts.count > Self.maximumNames || comparedParts.extensions > Self.maximumNames
            || isSlow
    }

    /// Whether verifying one signature with the key takes too long.
    private var isSlow: Bool {
        verificationCost > Self.maximumVerificationCost || rsaExponentBits > Self.maximumExponentBits
    }

    /// The error that says why the certificate `isExcessive`; nil if it is not.
    package var excessProblem: Problem? {
        guard isExcessive else { return nil }
        guard !isSlow else {
            return Problem(.chainNotChecked, "verifying a signature with the key of \(subject) takes too long")
        }
        let parts = "names, name constraints, policies and distribution points"
        let most =
            comparedParts.count > Self.maximumNames
            ? "\(Self.maximumNames) \(parts)" : "\(Self.maximumNames) extensions"
        return Problem(.chainNotChecked, "\(subject) has more than \(most)")
    }

    /// The addresses for a report, which may repeat them for each signature: `addresses`, or only the first
    /// `reportedNames` of them if the certificate `isExcessive`.
    package var reportedAddresses: [String] {
        isExcessive ? Array(addresses.prefix(Self.reportedNames)) : addresses
    }

    /// The additional cost for libcrypto of reading a large certificate, in units of `WorkBudget`.
    var readingCost: Int { der.count > Self.keptCount ? der.count >> 13 : 0 }
}

extension Certificate {
    /// The approximate time for verifying one signature with this key, in units of `WorkBudget`: 4 for RSA-2048 with a small
    /// exponent.
    package var verificationCost: Int {
        switch publicKeyAlgorithm {
        case .rsa(let bits), .rsaPSS(let bits):
            let size = min(bits, 16_384) / 2048 + 1
            return size * size * max(1, rsaExponentBits / 17)
        case .dsa(let bits):
            let size = min(bits, 16_384) / 2048 + 1
            return size * size * 12
        case .ellipticCurve("P-256"), .ed25519, .postQuantum: return 3
        // Measured: 0.9 ms for P-384, 1.4 ms for brainpoolP512r1 and 5.3 ms for sect571k1, the slowest of the other curves.
        case .ellipticCurve(let name) where name.hasPrefix("brainpool"): return 30
        case .ellipticCurve: return publicKeyAlgorithm.hasListedCurve ? 20 : 110
        case .other, .x25519: return 20
        }
    }

    /// The length of the exponent of an RSA key in bits, rounded up to bytes; 0 for other keys.
    private var rsaExponentBits: Int {
        switch publicKeyAlgorithm {
        case .rsa, .rsaPSS: break
        default: return 0
        }
        guard var info = try? ElementReader(ASN1Node.read(publicKeyInfo)), (try? info.next()) != nil,
            let key = try? info.next().bits(), var fields = try? ElementReader(ASN1Node.read(key)),
            (try? fields.next()) != nil, let exponent = try? fields.next().primitive()
        else { return 0 }
        return min(exponent.drop { $0 == 0 }.count, 2048) * 8
    }
}
