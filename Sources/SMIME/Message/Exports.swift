// One import gives what the public interface names: certificates and identities, addresses and headers, recipients and ciphers.
@_exported public import ByteStreams
@_exported public import CMSSyntax
@_exported public import InternetMessage
@_exported public import LibCrypto
@_exported public import PKIX
