import ByteStreams
import InternetMessage
import PKIX

extension DividedMessage {
    /// Makes sure that `MessageOpener` opens what is made of the message.
    ///
    /// - Parameter layers: how many layers are put around it.
    /// - Throws: `MessageError.defective` for MIME that readers take for different things, `MessageError.malformed` for a protected
    ///   message that cannot be opened when it is to be encrypted once more, `.tooManyLayers`, and what reading throws.
    func checkReadable(isEncrypted: Bool, layers: Int) throws {
        // An empty line is put between the header and the fields that follow a line which is none. A header that is
        // ambiguous in itself has been refused.
        let defects = message.defects.filter { $0.isError && $0 != .hiddenFields }
        if let defect = defects.min(by: { $0.rawValue < $1.rawValue }) { throw MessageError.defective(defect) }
        guard isEncrypted, message.protection != nil else { return }
        do { try checkLayers(inside: layers) } catch {
            switch error {
            case is CMSError, StreamError.malformedBase64, MIMEError.limitExceeded:
                throw MessageError.malformed("it is protected already, and nobody can open that: \(error)")
            default: throw error
            }
        }
    }

    /// Opens each layer that needs no key.
    private func checkLayers(inside outer: Int) throws {
        var next: LocatedEntity? = LocatedEntity(entity: message, source: source)
        var count = outer
        var isCompressed = false
        while let part = next, let layer = try Layer(part) {
            count += 1
            guard count <= MessageOpener.maximumLayers else { throw MessageError.tooManyLayers }
            switch layer {
            case .encrypted: next = nil
            case .signed(let signed):
                guard signed.content != nil || signed.onlyBringsCertificates else {
                    throw MessageError.malformed("a signature without content")
                }
                next = signed.content
            case .compressed(let compressed):
                guard !isCompressed else { throw CMSError.limitExceeded("one layer of compression") }
                isCompressed = true
                next = try compressed.content()
            }
        }
    }
}
