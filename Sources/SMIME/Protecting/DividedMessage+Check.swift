import ByteStreams
import InternetMessage
import PKIX

extension DividedMessage {
    /// Makes sure that `MessageOpener` can open the protected message.
    ///
    /// - Parameter layers: how many layers are put around it.
    /// - Throws: `MessageError.defective` for MIME that readers take for different things, `MessageError.malformed` for a protected
    ///   message that cannot be opened when it is to be encrypted once more, `.tooManyLayers`, and what reading throws.
    func checkReadable(isEncrypted: Bool, layers: Int) throws {
        // If a line in the header is no field, an empty line is inserted before what follows it. An ambiguous header was refused
        // before.
        let defects = message.defects.filter { $0.isError && $0 != .hiddenFields }
        if let defect = defects.min(by: { $0.rawValue < $1.rawValue }) { throw MessageError.defective(defect) }
        guard isEncrypted, message.protection != nil else { return }
        do { try checkLayers(inside: layers) } catch {
            switch error {
            case is CMSError, StreamError.malformedBase64, MIMEError.limitExceeded:
                throw MessageError.malformed("it is already protected, and the protection is malformed: \(error)")
            default: throw error
            }
        }
    }

    /// Opens each layer that needs no key.
    private func checkLayers(inside outer: Int) throws {
        let place = MessagePlace(LocatedEntity(entity: message, source: source))
        var walker = LayerWalker(place, inside: outer)
        while let step = try walker.next() {
            guard case .signed(let signed) = step.layer else { continue }
            guard signed.content != nil || signed.onlyBringsCertificates else {
                throw MessageError.malformed("a signature without content")
            }
        }
    }
}
