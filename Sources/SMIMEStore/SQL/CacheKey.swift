/// Names a value that was taken out of the store: a kind, and what it was asked for by.
struct CacheKey: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case account
        case accountNamed
        case accountOfDomain
        case accountSending
        case accountSummary
        case anchor
        case authorities
        case authority
        case candidates
        case certificates
        case hasIdentities
        case hasResponses
        case keyDecisions
        case protectors
        case response
        case revocationLists
        case rules
        case rulesOfScope
        case sealedKeys
        case sealedKeysOfKey
        case settings
    }

    let kind: Kind
    let arguments: [SQLValue]
}
