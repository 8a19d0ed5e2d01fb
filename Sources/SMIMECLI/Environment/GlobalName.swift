import ArgumentParser

/// The names of the options that every verb has. `GlobalOptions` takes the names from here.
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
