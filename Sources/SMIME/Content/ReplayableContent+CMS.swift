import CMSSyntax

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ReplayableContent {
    /// A SignedData object over these bytes. If `isOpaque` is true, the object contains the bytes (RFC 5652 §5).
    func signed(by signer: SignedDataWriter.Signer, isOpaque: Bool, at time: Date) throws -> ReplayableContent {
        let (digest, count) = try self.digest(signer.digest)
        let writer = try SignedDataWriter(
            signer: signer,
            contentDigest: digest,
            contentCount: isOpaque ? count : nil,
            time: time
        )
        return ReplayableContent { try writer.write(to: $0, content: isOpaque ? write : nil) }
    }

    /// An EnvelopedData or AuthEnvelopedData object that holds these bytes (RFC 5652 §6, RFC 5083).
    func enveloped(to recipients: [Recipient], secrets: [SharedSecret], cipher: ContentCipher) throws
        -> ReplayableContent
    {
        let writer = try EnvelopedDataWriter(to: recipients, secrets: secrets, cipher: cipher, contentCount: count())
        return ReplayableContent { try writer.write(to: $0, content: write) }
    }
}
