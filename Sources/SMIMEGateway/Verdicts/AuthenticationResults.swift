import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME

/// The results for a message's signatures, for an Authentication-Results field.
///
/// RFC 7281 §3, RFC 8601 §2
struct AuthenticationResults {
    static let fieldName = "Authentication-Results"

    /// The results that RFC 7281 §3.1 defines.
    enum Result: String {
        case fail
        case neutral
        case none
        case pass
        case permanentError = "permerror"
        case policy
        /// The only fault is an unknown revocation status, which may change. Faults of the local disk or the store result
        /// in no verdict: such mail is deferred.
        case temporaryError = "temperror"

        /// The place of the result among several, the worst first.
        fileprivate var rank: Int {
            switch self {
            case .fail: 0
            case .permanentError: 1
            case .temporaryError: 2
            case .policy: 3
            case .neutral: 4
            case .none: 5
            case .pass: 6
            }
        }
    }

    /// One result, for a signature or for a message without signatures.
    private struct Finding {
        let result: Result
        let reason: String
        let properties: String
    }

    private let findings: [Finding]

    /// The maximum number of signatures for which results are written.
    private static let maximumCount = 8

    /// The results of `report`: one for each signature, according to its own verdict (RFC 8601 §2.3). None is `pass` unless
    /// the verdict on the whole message is valid.
    ///
    /// - Parameter isOpen: whether encrypted content was decrypted, so that the signatures inside are known.
    init(_ report: VerificationReport, isOpen: Bool) {
        let isEncrypted = !isOpen && report.layers.contains { $0.kind.isEncryption }
        if report.signers.isEmpty, report.status == .unsigned, isEncrypted {
            findings = [Finding(result: .none, reason: "encrypted", properties: "")]
            return
        }
        let malformed: Result = report.layers.contains { $0.kind == .signed } ? .neutral : .permanentError
        guard !report.signers.isEmpty else {
            findings = [Self.finding(report.status, report.problems, malformed: malformed)]
            return
        }
        let all = report.signers.map { signer in
            let properties = Self.properties(signer)
            // A valid signature with reservations does not get `pass`; the reservations are reported.
            if report.status(of: signer) == .valid, case let left = report.reservations(about: signer), !left.isEmpty {
                return Self.finding(.policy, .valid, problems: left, properties: properties)
            }
            if report.status(of: signer) == .untrusted, signer.failsForUnknownRevocationOnly {
                let code = ProblemCode.revocationUnknown.rawValue
                return Finding(result: .temporaryError, reason: code, properties: properties)
            }
            if report.status(of: signer) == .partial, signer.isOtherThanSender {
                let problem = Problem(.signerNotFrom, "the signer of a part is not the sender of the message")
                return Self.finding(.policy, .mismatch, problems: [problem], properties: properties)
            }
            // Programs search for a `pass`, so none may be beside the result of a bad signature.
            if report.status(of: signer) == .valid, report.status != .valid {
                let reason = "valid, but the message is \(report.status.rawValue)"
                return Finding(result: .policy, reason: reason, properties: properties)
            }
            let problems = report.problems + signer.problems
            return Self.finding(report.status(of: signer), problems, properties: properties, malformed: malformed)
        }
        // The worst results come first, so that many others do not hide them.
        let places = report.signers.indices.sorted { one, other in
            let valid = [one, other].map { report.status(of: report.signers[$0]) == .valid ? 1 : 0 }
            return (all[one].result.rank, valid[0], one) < (all[other].result.rank, valid[1], other)
        }
        findings = places.prefix(Self.maximumCount).map { all[$0] }
    }

    private static func finding(
        _ result: Result,
        _ status: VerificationReport.Status,
        problems: [Problem],
        properties: String
    ) -> Finding {
        let codes = Array(Set(problems.map(\.kind.rawValue))).sorted().prefix(4)
        let reason = status.rawValue + (codes.isEmpty ? "" : ": " + codes.joined(separator: ", "))
        return Finding(result: result, reason: reason, properties: properties)
    }

    /// - Parameter malformed: the result for a message that is not in the format that it claims.
    private static func finding(
        _ status: VerificationReport.Status,
        _ problems: [Problem],
        properties: String = "",
        malformed: Result
    ) -> Finding {
        finding(
            result(status, malformed),
            status,
            problems: problems.filter { $0.level == .error },
            properties: properties
        )
    }

    private static func result(_ status: VerificationReport.Status, _ malformed: Result) -> Result {
        switch status {
        case .valid: .pass
        case .invalid, .revoked: .fail
        // The signature is valid, but not acceptable: its signer is not trusted or not in From, it is too weak, its
        // certificate is not valid at this time, or only a part is signed.
        case .expired, .mismatch, .notYetValid, .partial, .untrusted, .weak: .policy
        case .malformed: malformed
        case .unsigned: .none
        }
    }

    /// The field with the name of `host` as its author.
    func field(by host: String) -> NewField {
        let results = findings.map { "smime=\($0.result.rawValue) (\($0.reason))\($0.properties)" }
        return NewField(Self.fieldName, value: "\(host); " + results.joined(separator: "; "))
    }

    /// The properties of the signer and of the signed part. Serial number and issuer are given together (RFC 7281 §3.2).
    private static func properties(_ signer: VerificationReport.Signer) -> String {
        let section = signer.section.map { " body.smime-part=\($0)" } ?? ""
        guard let certificate = signer.certificate else { return section }
        let serial = certificate.serialNumber.hexadecimal
        let address = signer.address.map { " body.smime-identifier=\(value($0))" } ?? ""
        return "\(address)\(section) body.smime-serial=\(serial) body.smime-issuer=\(quoted("\(certificate.issuer)"))"
    }

    /// `address`, quoted if it contains characters that require this.
    private static func value(_ address: String) -> String {
        address.utf8.allSatisfy { byte in
            33...126 ~= byte && !"()<>[]:;,\\\"/?=".utf8.contains(byte)
        } ? address : quoted(address)
    }

    /// `text` as a quoted string of printable ASCII, cut to a length that fits in a line (RFC 5322 §2.1.1). Other bytes are
    /// escaped as in RFC 4514 §2.4, and so is an equals sign before "pass": the signer chooses `text`, and some programs
    /// search the field for a `pass`.
    private static func quoted(_ text: String) -> String {
        var output = ""
        let bytes = Array(text.utf8)
        for (place, byte) in bytes.enumerated() where output.utf8.count < maximumQuoted {
            switch byte {
            case UInt8(ascii: "=") where isPass(bytes[(place + 1)...]):
                output += "\\\\" + [byte].hexadecimal
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += "\\" + String(Unicode.Scalar(byte))
            case 32...126: output += String(Unicode.Scalar(byte))
            default: output += "\\\\" + [byte].hexadecimal
            }
        }
        return "\"\(output)\""
    }

    /// Whether `bytes` begin with "pass", after blanks.
    private static func isPass(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.drop { $0 == 0x20 || $0 == 0x09 }.prefix(4).map { $0 | 0x20 } == Array("pass".utf8)
    }

    private static let maximumQuoted = 500
}
