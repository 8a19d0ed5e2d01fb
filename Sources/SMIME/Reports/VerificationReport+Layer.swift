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
        /// Of signatures directly around each other the outermost speaks, as its signer saw what is inside. Who signs what
        /// is encrypted need not know what that is, so a signature inside the encryption speaks, too.
        public internal(set) var isDecisive = false
        /// Whether the layer is inside one that is encrypted.
        public internal(set) var isInsideEncryption = false
        /// Whether it is around a part of the message only, beside others.
        public internal(set) var isPart = false
    }
}
