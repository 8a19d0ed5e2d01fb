import ByteStreams
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// Reads certificates from files: certificate files, and signed mail.
struct CertificateInput {
    /// The certificates in one file.
    enum Contents {
        /// The certificates of a file; `isMail` says whether they were in a mail, whose author is not verified.
        case files([KeyMaterial], isMail: Bool)
        case mail(MailCertificates)
    }

    private let opener: MessageOpener

    /// - Parameter opening: the store, for the private keys of encrypted mail.
    init(_ opening: StoreOpening) {
        let provider = StoreKeyProvider(opening, warn: Console.warning)
        opener = MessageOpener(provider, at: .now, options: ValidationOptions(revocation: .off))
    }

    /// Reads the file at `path`; `-` is standard input.
    ///
    /// - Throws: `Failure`, for example with status 65 for mail without an intact signature.
    func read(_ path: String) async throws -> Contents {
        do {
            let source = try InputFile.open(path, limit: KeyMaterial.limit)
            try KeyMaterial.checkSize(of: source, at: path)
            try MessageInput.checkSingle(source, at: path)
            if let message = try CertificatesMessage(source) {
                return .files(message.certificates.map { .certificate($0) }, isMail: true)
            }
            guard try MailSources.beginsAsMail(source) else {
                let isMail = try PEMObject.isInMail(source)
                return .files(try KeyMaterial.read(try InputFile.bytes(of: source, at: path)), isMail: isMail)
            }
            return .mail(try await mail(source, path))
        } catch {
            throw Failure(error, in: InputFile.name(path))
        }
    }

    private func mail(_ source: any ByteSource, _ path: String) async throws -> MailCertificates {
        guard let mail = try await MailCertificates(source, opener: opener), !mail.signers.isEmpty else {
            throw Failure(
                .badData,
                "\(InputFile.name(path)): no valid signature, so the certificates in it prove nothing",
                hints: path == "-" ? [] : ["what is wrong with it: smime verify \(shell: path)"]
            )
        }
        return mail
    }
}
