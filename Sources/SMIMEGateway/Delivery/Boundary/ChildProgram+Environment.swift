import Foundation

extension ChildProgram {
    /// Our environment but for what we set for ourselves.
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
