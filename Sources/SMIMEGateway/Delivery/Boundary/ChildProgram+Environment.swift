import Foundation

extension ChildProgram {
    /// The environment of this process without the variable that it sets only for itself.
    static var environment: [UnsafeMutablePointer<CChar>?] {
        let ours = "\(dispatchLog.name)=\(dispatchLog.value)"
        var strings: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let string = next.pointee {
            if strcmp(string, ours) != 0 { strings.append(string) }
            next += 1
        }
        return strings
    }
}
