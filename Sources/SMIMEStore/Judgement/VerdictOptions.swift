import Foundation
import LibCrypto
import PKIX

/// The options for validating many groups of certificates: everything besides the store on which a verdict depends.
package struct VerdictOptions: Sendable {
    private let systemAnchors: Bool
    /// Whether verdicts may be stored.
    private let isKept: Bool
    private let options: ValidationOptions
    private let madeDigest = MadeOnce<[UInt8]?>()
    /// The revocation lists in the options, by the `matchingKey` of their issuers.
    private let lists: [[UInt8]: [CertificateList]]

    /// - Parameter systemAnchors: whether the system's trust anchors are trusted.
    init(_ options: ValidationOptions, systemAnchors: Bool) {
        self.options = options
        self.systemAnchors = systemAnchors
        var lists: [[UInt8]: [CertificateList]] = [:]
        var isWhole = true
        for list in options.certificateLists {
            guard let key = try? list.issuer.matchingKey else {
                isWhole = false
                continue
            }
            lists[key, default: []].append(list)
        }
        self.lists = lists
        // Verdicts are not stored if they use OCSP responses that are not in the store, or while a folder of revocation
        // lists cannot be read.
        isKept = isWhole && options.responses.isEmpty && options.unreadableLists.isEmpty
    }

    /// The digest of the validating program and of the options without revocation lists; nil if verdicts must not be
    /// stored.
    private var digest: [UInt8]? { madeDigest.value(makeDigest) }

    private func makeDigest() -> [UInt8]? {
        guard isKept, let program = Self.program else { return nil }
        let policies = options.policies
        let fields = [
            "verdict 1", program, systemAnchors ? SystemAnchors().folder : "-", options.revocation.rawValue,
            options.profile?.rawValue ?? "-",
            "\(policies.isExplicit) \(policies.inhibitsMapping) \(policies.inhibitsAnyPolicy)",
        ]
        let framed = (fields + policies.acceptable.sorted()).map { "\($0.utf8.count):\($0)" }.joined()
        return try? DigestAlgorithm.sha256.digest(Array(framed.utf8))
    }

    /// The digest of the options and of all other evidence on which verdicts depend; nil if verdicts must not be stored.
    /// `authorities` has one list for each role, in a fixed order.
    func digest(with authorities: [[Fingerprint]], _ lists: [CertificateList]) -> [UInt8]? {
        guard var bytes = digest else { return nil }
        for fingerprints in (authorities + [lists.map(\.fingerprint)]).map(Set.init) {
            bytes += Array("\(fingerprints.count):".utf8) + fingerprints.sorted().flatMap(\.bytes)
        }
        return try? DigestAlgorithm.sha256.digest(bytes)
    }

    /// The options with only those revocation lists that are relevant if `issuers` are the names of the possible issuers.
    func validation(for issuers: Set<[UInt8]>) -> ValidationOptions {
        var options = options
        if !options.certificateLists.isEmpty {
            options.certificateLists =
                lists.isEmpty
                ? []
                : issuers.sorted { $0.lexicographicallyPrecedes($1) }
                    .flatMap { lists[$0] ?? [] }
        }
        return options
    }

    /// Whether the options have a revocation list of the issuer with this `matchingKey`.
    func hasLists(by name: [UInt8]) -> Bool { !lists.isEmpty && lists[name] != nil }

    /// Identifies the program and the libcrypto that validate: other versions may be stricter. Nil if they cannot be
    /// identified.
    private static let program: String? = {
        let path =
            FileManager.default.fileExists(atPath: "/proc/self/exe") ? "/proc/self/exe" : Bundle.main.executablePath
        var status = stat()
        guard let path, stat(path, &status) == 0 else { return nil }
        #if os(Linux)
        let (changed, modified) = (status.st_ctim, status.st_mtim)
        #else
        let (changed, modified) = (status.st_ctimespec, status.st_mtimespec)
        #endif
        return [
            "\(status.st_dev)", "\(status.st_ino)", "\(status.st_size)", "\(changed.tv_sec).\(changed.tv_nsec)",
            "\(modified.tv_sec).\(modified.tv_nsec)", Libcrypto.build,
        ].joined(separator: " ")
    }()
}
