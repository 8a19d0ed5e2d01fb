// `import SMIME` is enough for all types of the public interface: certificates, identities, addresses, headers, recipients
// and ciphers.
@_exported public import ByteStreams
@_exported public import CMSSyntax
@_exported public import InternetMessage
@_exported public import LibCrypto
@_exported public import PKIX
