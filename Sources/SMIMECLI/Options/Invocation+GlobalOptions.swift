import ArgumentParser

extension Invocation {
    /// The global options on the command line, without the rest of the command; nil if they are wrong.
    var globalOptions: GlobalOptions? {
        try? GlobalOptions.parse(Self.globalNames.compactMap { name in value(of: name).map { "\(name)=\($0)" } })
    }
}
