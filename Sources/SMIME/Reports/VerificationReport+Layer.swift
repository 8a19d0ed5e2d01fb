public import PKIX

extension VerificationReport {
    /// One layer of protection, from the outside in.
    public struct Layer: Sendable {
        /// The kind of a layer.
        public enum Kind: String, Sendable {
            case authenticatedEncrypted = "authenticated-encrypted"
            case compressed
            case encrypted
            case signed

            /// Whether it keeps others from reading.
            public var isEncryption: Bool { self == .encrypted || self == .authenticatedEncrypted }
        }

        /// The kind of the layer.
        public let kind: Kind
        /// The cipher or signature algorithm.
        public let algorithm: String
        /// The problems of the layer itself, without those of its signers.
        public let problems: [Problem]
        /// The signers of a signed layer.
        public internal(set) var signers: [Signer] = []
        /// Whether the verdict depends on its signers.
        ///
        /// Of directly nested signatures the outermost decides, as its signer saw what is inside. The signer of ciphertext need not know
        /// the plaintext, so a signature inside the encryption decides, too.
        public internal(set) var isDecisive = false
        /// Whether the layer is inside one that is encrypted.
        public internal(set) var isInsideEncryption = false
        /// Whether it covers only a part of the message, beside other parts.
        public internal(set) var isPart = false
    }
}
