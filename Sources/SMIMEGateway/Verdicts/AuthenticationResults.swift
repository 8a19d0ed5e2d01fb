import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME

/// The results about a message's signatures in an Authentication-Results field.
///
/// RFC 7281 §3, RFC 8601 §2
struct AuthenticationResults {
    static let fieldName = "Authentication-Results"

    /// The verdicts of RFC 7281 §3.1.
    enum Result: String {
        case fail
        case neutral
        case none
        case pass
        case permanentError = "permerror"
        case policy
        /// The only fault is an unknown revocation status, for now. Faults of our own disk or store give no verdict:
        /// such mail waits.
        case temporaryError = "temperror"
    }

    /// One result: of one signature, or of a message that has none.
    private struct Finding {
        let result: Result
        let reason: String
        let properties: String
    }

    private let findings: [Finding]

    /// The maximum number of signatures with a result.
    private static let maximumCount = 8

    /// The results of `report`: one for each signature, by its own verdict (RFC 8601 §2.3).
    ///
    /// - Parameter isOpen: whether encrypted content was decrypted, so that its signatures are known.
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
        findings = report.signers.prefix(Self.maximumCount).map { signer in
            let properties = Self.properties(signer)
            // Reservations about a valid signature are reported, and the result is not `pass`.
            if report.status(of: signer) == .valid, case let left = report.reservations(about: signer), !left.isEmpty {
                return Self.finding(.policy, .valid, problems: left, properties: properties)
            }
            if report.status(of: signer) == .untrusted, signer.failsForUnknownRevocationOnly {
                let code = ProblemCode.revocationUnknown.rawValue
                return Finding(result: .temporaryError, reason: code, properties: properties)
            }
            let problems = report.problems + signer.problems
            return Self.finding(report.status(of: signer), problems, properties: properties, malformed: malformed)
        }
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

    /// - Parameter malformed: what it comes to that the message is not even what it claims to be.
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
        // The signature holds, and is not acceptable: its signer is not trusted or is not in From, or it is too weak.
        case .expired, .mismatch, .notYetValid, .partial, .untrusted, .weak: .policy
        case .malformed: malformed
        case .unsigned: .none
        }
    }

    /// The field, in the name of `host`.
    func field(by host: String) -> NewField {
        let results = findings.map { "smime=\($0.result.rawValue) (\($0.reason))\($0.properties)" }
        return NewField(Self.fieldName, value: "\(host); " + results.joined(separator: "; "))
    }

    /// The signer and the signed part. Serial number and issuer belong together (RFC 7281 §3.2).
    private static func properties(_ signer: VerificationReport.Signer) -> String {
        let section = signer.section.map { " body.smime-part=\($0)" } ?? ""
        guard let certificate = signer.certificate else { return section }
        let serial = certificate.serialNumber.hexadecimal
        let address = signer.address.map { " body.smime-identifier=\(value($0))" } ?? ""
        return "\(address)\(section) body.smime-serial=\(serial) body.smime-issuer=\(quoted("\(certificate.issuer)"))"
    }

    /// `address`, in quotes if it holds characters that need them.
    private static func value(_ address: String) -> String {
        address.utf8.allSatisfy { byte in
            33...126 ~= byte && !"()<>[]:;,\\\"/?=".utf8.contains(byte)
        } ? address : quoted(address)
    }

    /// `text` as a quoted string of printable ASCII; other bytes are written as RFC 4514 §2.4 does.
    private static func quoted(_ text: String) -> String {
        var output = ""
        for byte in text.utf8.prefix(500) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += "\\" + String(Unicode.Scalar(byte))
            case 32...126: output += String(Unicode.Scalar(byte))
            default: output += "\\\\" + [byte].hexadecimal
            }
        }
        return "\"\(output)\""
    }
}
