import Testing

/// The steps that root takes for the user of a mail server's filter.
@Suite struct ServiceUserTests {
    @Test func `root follows no link of the service user, in postinst and in the nightly copy`() async throws {
        try await TestProgram("Tests/Packaging/service-user", seconds: 600).run()
    }
}
