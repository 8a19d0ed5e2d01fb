/// The key of a value in `StoreCache`: its kind, and the arguments of the query.
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
        case ruleDigest
        case rules
        case rulesOfScope
        case sealedKeys
        case sealedKeysOfKey
        case settings
    }

    let kind: Kind
    let arguments: [SQLValue]
}
