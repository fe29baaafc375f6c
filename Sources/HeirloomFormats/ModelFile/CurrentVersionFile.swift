import Foundation

/// The file `.xccurrentversion` of a model bundle, which names the current version.
package enum CurrentVersionFile {
  package static let name = FileNames.currentVersion
  private static let key = "_XCCurrentVersionName"

  package static func versionName(in bytes: [UInt8]) -> String? {
    guard let value = try? PropertyListValue(contentsOf: bytes) else { return nil }
    return value[key]?.stringValue.map { FileNames.base($0, without: FileNames.sourceExtension) }
  }

  /// If the previous file is XML, its other content is kept.
  package static func bytes(naming version: String, in found: [UInt8] = []) -> [UInt8] {
    let value = "<string>\(escaped(version + FileNames.sourceExtension))</string>"
    let text = String(decoding: found, as: UTF8.self)
    if let key = text.range(of: "<key>\(key)</key>"),
      let start = text[key.upperBound...].range(of: "<string>"),
      let end = text[start.upperBound...].range(of: "</string>")
    {
      let bytes = Array((text[..<start.lowerBound] + value + text[end.upperBound...]).utf8)
      if versionName(in: bytes) == version { return bytes }
    }
    return Array(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>\(key)</key>
      \t\(value)
      </dict>
      </plist>

      """.utf8)
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
  }
}
