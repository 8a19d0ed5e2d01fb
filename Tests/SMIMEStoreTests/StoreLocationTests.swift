import Foundation
import SMIMEStore
import Testing

@Suite struct StoreLocationTests {
    @Test func `a given home precedes SMIME_HOME`() {
        let location = StoreLocation(home: "/a/", environment: ["SMIME_HOME": "/b", "HOME": "/h"])
        #expect(location.database == "/a/data/smime.sqlite")
        #expect(location.keyFile == "/a/key/store.key")
        #expect(location.lockFile == "/a/lock")
    }

    @Test func `SMIME_HOME precedes the XDG directories`() {
        let location = StoreLocation(home: nil, environment: ["SMIME_HOME": "/b", "XDG_DATA_HOME": "/x"])
        #expect(location.home == "/b")
    }

    @Test func `without a home the XDG directories are used`() {
        let location = StoreLocation(
            home: nil,
            environment: ["XDG_DATA_HOME": "/x", "XDG_CONFIG_HOME": "/y", "HOME": "/h"]
        )
        #expect(location.dataFolder == "/x/smime")
        #expect(location.keyFile == "/y/smime/store.key")
    }

    @Test(arguments: [["HOME": "/h"], ["HOME": "/h", "XDG_DATA_HOME": "relative"], ["HOME": "/h", "SMIME_HOME": ""]])
    func `empty and relative variables count as absent`(environment: [String: String]) {
        let location = StoreLocation(home: nil, environment: environment)
        #expect(location.database == "/h/.local/share/smime/smime.sqlite")
        #expect(location.keyFile == "/h/.config/smime/store.key")
    }

    @Test func `a relative home is below the current directory`() {
        let location = StoreLocation(home: "there", environment: [:])
        #expect(location.home == FileManager.default.currentDirectoryPath + "/there")
    }
}
