import ArgumentParser
import ByteStreams
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// Options for verbs that judge signatures: the form of the input, the rules of the verdict, learning, and the report.
///
/// These options form one flat group: the parser needs more time for a nested group than for the options in it.
struct VerificationOptions: ParsableArguments {
    @Flag(name: .customLong("no-harvest"), help: .noHarvest) var noHarvest = false
    @Option(name: .customLong("on-change"), help: .onChange) var givenChange: ChangePolicy?
    @Option(name: .customLong("inform"), help: .inform) var givenForm: FormOptions.InputForm?
    @Option(name: .customLong("time"), help: .time, transform: TimeOptions.parse) var givenTime: Date?
    @Flag(name: .customLong("no-system-anchors"), help: .noSystemAnchors) var noSystemAnchors = false
    @Option(help: .revocation) var revocation: RevocationPolicy?
    @Option(
        help: ArgumentHelp("The chain must be valid under this certificate policy; may be repeated.", valueName: "oid")
    )
    var policy: [String] = []
    @Flag(help: "The chain must be valid under at least one certificate policy.") var explicitPolicy = false
    @Option(
        help: ArgumentHelp(
            "Warn about violations of the CA/Browser Forum's S/MIME Baseline Requirements.",
            valueName: "strict"
        )
    )
    var caProfile: CertificateProfile?
    @Flag(
        help: """
            Accept, with a warning, a signer named in the field Sender only. (default: the setting \
            verify.accept-sender)
            """
    )
    var acceptSender = false
    @Flag(
        help: """
            Accept, with a warning, SHA-1 and short keys, which old mail has. (default: the setting \
            verify.accept-weak)
            """
    )
    var acceptWeak = false
    @Option(
        help: ArgumentHelp(
            "The status is 0 only if the signer with this address or fingerprint signed the whole mail; ignore other signers.",
            valueName: "addr|fpr"
        ),
        completion: CompletedWords.recipients.completion
    )
    var assertSigner: String?
    @Flag(help: .online) var online = false
    @Flag(help: .json) var json = false
    @Flag(name: .shortAndLong, help: "Also show each layer, signer, certificate and header field.") var verbose = false
    @Flag(name: .shortAndLong, help: "Print only errors.") var quiet = false

    func validate() throws {
        if quiet, verbose || json { throw ValidationError("--quiet excludes --verbose and --json") }
        if let assertSigner, AssertedSigner(assertSigner) == nil {
            // A prefix is not accepted: the mail comes from outside, and an attacker can generate a certificate with a chosen
            // prefix.
            if let prefix = FingerprintPrefix(assertSigner) {
                throw ValidationError("--assert-signer \(prefix.tooShort)")
            }
            throw ValidationError("--assert-signer: '\(assertSigner)' is neither an address nor a fingerprint")
        }
        for text in policy where !CertificatePolicies.isIdentifier(text) {
            throw ValidationError("--policy: '\(text)' is not an object identifier like 2.23.140.1.5.1.1")
        }
    }

    /// The time at which validity is judged.
    var date: Date { givenTime ?? .now }
    var systemAnchors: Bool { !noSystemAnchors }
    var onChange: ChangePolicy { givenChange ?? .sameRoot }
    /// Whether senders' certificates are learned. A verdict for another time does not justify using a certificate now.
    var learns: Bool { !noHarvest && givenTime == nil }

    var validation: ValidationOptions {
        var validation = ValidationOptions(revocation: revocation ?? .soft)
        validation.policies = CertificatePolicies(acceptable: policy, isExplicit: explicitPolicy)
        validation.profile = caProfile
        return validation
    }

    /// The exceptions that the options add to those of the settings.
    var exceptions: VerdictExceptions {
        var exceptions: VerdictExceptions = []
        if acceptSender { exceptions.insert(.sender) }
        if acceptWeak { exceptions.insert(.weakAlgorithms) }
        return exceptions
    }

    /// The bytes of a CMS object without MIME; nil if the input is mail.
    func object(in source: any ByteSource) throws -> ByteStream? { try (givenForm ?? .auto).object(in: source) }

    /// Warnings about the bytes around the object that `object(in:)` reads.
    func surroundings(in source: any ByteSource) throws -> [Problem] {
        try (givenForm ?? .auto).surroundings(in: source)
    }
}

/// Options for verbs that check whether certificates were revoked.
struct RevocationOptions: ParsableArguments {
    @Option(help: .revocation)
    var revocation: RevocationPolicy?

    var validation: ValidationOptions { ValidationOptions(revocation: revocation ?? .soft) }
}

extension ArgumentHelp {
    static let revocation = ArgumentHelp(
        """
        How to check for revocation: soft accepts certificates of unknown status, hard rejects them, off \
        does not check. (default: soft)
        """,
        valueName: "off|soft|hard"
    )
}
