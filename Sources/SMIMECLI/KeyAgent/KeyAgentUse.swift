import Foundation
import SMIMEStore

/// The agents of `smime unlock`, which commands ask before they ask the person at the terminal.
enum KeyAgentUse {
    /// The agents of this user.
    static var client: KeyAgentClient {
        let environment = ProcessEnvironment[["XDG_RUNTIME_DIR"]]
        return KeyAgentClient(
            RuntimeFolder(environment: environment),
            others: RuntimeFolder.candidates(environment: environment)
        )
    }

    /// Makes the agent `name` delete its key, because the key or its passphrase has changed.
    static func forget(_ name: String?) {
        guard let name, client.forget(name) == false else { return }
        warn(name)
    }

    /// Runs `change`, which replaces the store at `location`, and makes the store's agent delete its key. If it is unknown
    /// which agent has the store's key, all agents delete their keys.
    static func forgetting<Value>(_ location: StoreLocation, _ change: () async throws -> Value) async throws -> Value {
        // `change` does not replace a store on a server.
        guard location.server == nil else { return try await change() }
        let name: Result<String?, any Error>
        do {
            let store = try await Store.open(location, mode: .readOnly) { _ in nil }
            name = .success(try await store.nameForAgent())
            try? await store.close()
        } catch { name = .failure(error) }
        let value = try await change()
        switch name {
        case .success(let name): forget(name)
        case .failure: if !client.forgetAll().isSure { warn("key-*") }
        }
        return value
    }

    private static func warn(_ name: String) {
        Console.warning("\(client.folder.path)/\(name): an agent may still keep the former key; end it: smime lock")
    }
}
