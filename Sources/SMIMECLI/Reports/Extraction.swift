import ArgumentParser
import CMSSyntax
import InternetMessage
import PKIX
import SMIME

/// The kinds of data that `inspect --extract` prints for other programs.
enum Extraction: String, Choice {
    /// The addresses in the certificates, one on each line.
    case addresses
    /// All certificates as PEM.
    case certificates
    /// The certificates of the signers as PEM.
    case signers

    /// Prints the data, each item once.
    ///
    /// - Throws: `Failure` with status 65 if there is no such data.
    func print(_ inspection: Inspection, _ opened: OpenedPKCS12?, file: String) throws {
        var certificates = Self.certificates(of: inspection, opened)
        if self == .signers {
            let names = inspection.outlines.flatMap(\.signers).map(\.identifier)
            certificates = certificates.filter { certificate in names.contains { $0.matches(certificate) } }
        }
        let texts = self == .addresses ? certificates.flatMap(\.addresses).map(Self.line) : certificates.map(\.pem)
        var seen: Set<String> = []
        let unique = texts.filter { seen.insert($0).inserted }
        let what = self == .signers ? "certificates of signers" : rawValue
        guard !unique.isEmpty else { throw Failure(.badData, "\(file): contains no \(what)") }
        try Console.print(unique.joined())
    }

    /// All certificates in a file or message.
    static func certificates(of inspection: Inspection, _ opened: OpenedPKCS12?) -> [Certificate] {
        inspection.certificates + (opened.map { $0.own + $0.others } ?? [])
    }

    private static func line(_ address: String) -> String { "\(address.escapedForDisplay)\n" }
}
