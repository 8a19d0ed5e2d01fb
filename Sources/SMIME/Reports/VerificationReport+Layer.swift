public import PKIX

extension VerificationReport {
    /// One layer of protection.
    public struct Layer: Sendable {
        /// The kind of a layer.
        @nonexhaustive
        public enum Kind: String, Sendable {
            case authenticatedEncrypted = "authenticated-encrypted"
            case compressed
            case encrypted
            case signed

            /// Whether the layer is encrypted.
            public var isEncryption: Bool { self == .encrypted || self == .authenticatedEncrypted }
        }

        /// The kind of the layer.
        public let kind: Kind
        /// The cipher or signature algorithm.
        public let algorithm: String
        /// The problems of the layer itself, without the problems of its signers.
        public let problems: [Problem]
        /// The signers of a signed layer.
        public internal(set) var signers: [Signer] = []
        /// Whether the layer's signers determine the verdict.
        ///
        /// If signatures are directly nested, the outermost signature determines the verdict, because its signer saw the
        /// content. The signer of ciphertext need not know the plaintext, so a signature inside the encryption determines the
        /// verdict, too.
        public internal(set) var isDecisive = false
        /// Whether the layer is inside an encrypted layer.
        public internal(set) var isInsideEncryption = false
        /// Whether the layer covers only one part of the message, next to other parts.
        public internal(set) var isPart = false
    }
}
