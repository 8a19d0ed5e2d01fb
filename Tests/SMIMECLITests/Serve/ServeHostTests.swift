import Foundation
import TestSupport
import Testing

/// `smime serve` with a store on a PostgreSQL server, and a file with the settings of this host.
@Suite(.startsServer(.postgreSQL)) struct ServeHostTests {
    @Test func `a new worker does not work without the file that was there before`() throws {
        let server = try PostgreSQLServer.shared.get()
        let scene = try ServeScene(variables: ["SMIME_STORE": server.url(server.makeDatabase())])
        let file = scene.path("home/key/host.conf")
        var renewals = 0
        func renewWorkers() throws {
            renewals += 1
            kill(scene.process.processIdentifier, SIGHUP)
            try scene.wait("the workers are replaced") {
                scene.log.components(separatedBy: "the workers are replaced").count > renewals
            }
        }
        func send() throws -> String {
            try scene.send(
                ServeScene.mail(),
                from: "alice@example.com",
                to: ["bob@example.com"],
                via: "out"
            ).joined()
        }
        let settings = Data("filter.sendmail /usr/sbin/sendmail -G -i\n".utf8)
        try settings.write(to: URL(filePath: file))
        chmod(file, 0o644)
        try renewWorkers()
        #expect(try send().hasPrefix("250"))
        unlink(file)
        try renewWorkers()
        #expect(try send().hasPrefix("451"))
        #expect(scene.log.contains("\(file): No such file or directory"))
        // The service notices by itself, too: /readyz has the reason.
        try scene.wait("the service says why it is not ready") {
            scene.log.contains("the store cannot be used: \(file)")
        }
        try settings.write(to: URL(filePath: file))
        chmod(file, 0o644)
        try scene.wait("the service is ready") { scene.log.contains("the store can be used again") }
        #expect(try send().hasPrefix("250"))
        #expect(scene.sink.all.count == 2)
    }
}
