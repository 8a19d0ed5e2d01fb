import ByteStreams
import InternetMessage
import PKIX

extension DividedMessage {
    /// Checks that `MessageOpener` will be able to open the protected message.
    ///
    /// - Parameter layers: the number of layers that will be added.
    /// - Throws: `MessageError.defective` for MIME that programs interpret differently, `MessageError.malformed` for a
    ///   protected message that cannot be opened and is to be encrypted once more, `.tooManyLayers`, and errors of reading.
    func checkReadable(isEncrypted: Bool, layers: Int) throws {
        // If a line in the header is not a field, an empty line is inserted before the text that follows. An ambiguous header
        // was rejected before.
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

    /// Opens all layers that can be opened without a key.
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
