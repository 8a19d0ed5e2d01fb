import Testing

/// What root does for the user that a mail server's filter runs as.
@Suite struct ServiceUserTests {
    @Test func `root follows no link of the service user, in postinst and in the nightly copy`() throws {
        try TestProgram("Tests/Packaging/service-user", seconds: 600).run()
    }
}
