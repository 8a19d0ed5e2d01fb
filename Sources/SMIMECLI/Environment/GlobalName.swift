import ArgumentParser

/// The names of the options of every verb. `GlobalOptions` declares the options by them.
enum GlobalName: String, CaseIterable {
    case home
    case store
    case storeKeyFile = "store-key-file"
    case storeKeyCommand = "store-key-command"
    case hostSettings = "host-settings"
    case color
}

extension NameSpecification {
    /// The name of an option of every verb.
    static func global(_ name: GlobalName) -> NameSpecification { .customLong(name.rawValue) }
}
