// One import gives the store, the agents and whole messages, and the `Passphrase` that a store asks for.
@_exported public import LibCrypto
@_exported public import SMIME
@_exported public import SMIMEStore
